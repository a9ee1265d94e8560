// What operators see of keys, mails and the audit log at ADMIN_PORT. Every series begins with 0, so that its first step
// counts as one.
import type { Registry } from "prom-client";
import { counter, gauge } from "#platform/telemetry/metrics.ts";
import { breaches } from "./rules/audit-chain.ts";

export type MerchantMetrics = ReturnType<typeof merchantMetrics>;

export function merchantMetrics(registry: Registry) {
  return { ...keyMetrics(registry), ...mailMetrics(registry), ...auditMetrics(registry) };
}

function keyMetrics(registry: Registry) {
  const keyBursts = counter(registry, {
    name: "tollbooth_api_key_bursts_total",
    help: "Times that a merchant made many API keys within minutes, by environment.",
    labelNames: ["environment"] as const,
  });
  for (const environment of ["sandbox", "live"]) keyBursts.inc({ environment }, 0);
  return {
    /** Merchants that began to make many keys at once, by environment. */
    keyBursts,
    /** Signs of a key in other hands. */
    newNetworks: counter(registry, {
      name: "tollbooth_api_key_new_networks_total",
      help: "Networks that a live API key was used from for the first time; a key's first network is not counted.",
    }),
    passkeyCopies: counter(registry, {
      name: "tollbooth_passkey_copies_total",
      help: "Sign-ins and proofs that were refused because a passkey's counter went back: somebody has a copy of it.",
    }),
  };
}

function mailMetrics(registry: Registry) {
  const mailsEnded = counter(registry, {
    name: "tollbooth_mails_total",
    help: "Mails that were sent, given up, or not queued: their merchant was over its hourly limit.",
    labelNames: ["outcome"] as const,
  });
  for (const outcome of ["sent", "given_up", "over_limit"]) mailsEnded.inc({ outcome }, 0);
  const mailsFailed = counter(registry, {
    name: "tollbooth_mail_failures_total",
    help: "Times that a mail was not sent; all but refused ones are tried again.",
    labelNames: ["reason"] as const,
  });
  for (const reason of ["refused", "away"]) mailsFailed.inc({ reason }, 0);
  return {
    /**
     * Mails that left the queue: `sent`, or `given_up` because their server refused them or was away for a day; and
     * mails to buyers beyond the hourly limit of their merchant, which are not queued (`over_limit`).
     */
    mailsEnded,
    /** `refused`: the server said no to this one; `away`: it was not reached, or took nothing. */
    mailsFailed,
  };
}

function auditMetrics(registry: Registry) {
  const auditBreaks = counter(registry, {
    name: "tollbooth_audit_breaks_total",
    help: "Chains of the audit log that were found not to hold, by what is wrong at their first such place.",
    labelNames: ["what"] as const,
  });
  for (const what of breaches) auditBreaks.inc({ what }, 0);
  return {
    auditBreaks,
    auditHeldAt: gauge(registry, {
      name: "tollbooth_audit_held_timestamp_seconds",
      help: "When a pass over the audit log last found that every chain holds, seconds since 1970; at first: since when there are chains.",
    }),
    auditHeldSeconds: gauge(registry, {
      name: "tollbooth_audit_held_duration_seconds",
      help: "How long that pass took.",
    }),
  };
}
