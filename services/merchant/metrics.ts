// Metrics of keys, mails and the audit log at ADMIN_PORT. Every series starts at 0, or Prometheus misses its first
// increase.
import type { Registry } from "prom-client";
import { newCounter, newGauge } from "#platform/telemetry/metrics.ts";
import { breaches } from "./rules/audit-chain.ts";

export type MerchantMetrics = ReturnType<typeof merchantMetrics>;

export function merchantMetrics(registry: Registry) {
  return { ...keyMetrics(registry), ...mailMetrics(registry), ...auditMetrics(registry) };
}

function keyMetrics(registry: Registry) {
  const keyBursts = newCounter(registry, {
    name: "tollbooth_api_key_bursts_total",
    help: "Bursts of API keys that a merchant created within minutes, by environment.",
    labelNames: ["environment"] as const,
  });
  for (const environment of ["sandbox", "live"]) keyBursts.inc({ environment }, 0);
  return {
    keyBursts,
    newNetworks: newCounter(registry, {
      name: "tollbooth_api_key_new_networks_total",
      help: "New networks of live API keys, without each key's first network; a stolen key causes one.",
    }),
    passkeyCopies: newCounter(registry, {
      name: "tollbooth_passkey_copies_total",
      help: "Sign-ins and proofs refused because a passkey's counter decreased: the passkey was copied.",
    }),
  };
}

function mailMetrics(registry: Registry) {
  const mailsEnded = newCounter(registry, {
    name: "tollbooth_mails_total",
    help: "Mails sent, given up (refused, or failing for a day), or not queued over a merchant's hourly limit.",
    labelNames: ["outcome"] as const,
  });
  for (const outcome of ["sent", "given_up", "over_limit"]) mailsEnded.inc({ outcome }, 0);
  const mailsFailed = newCounter(registry, {
    name: "tollbooth_mail_failures_total",
    help: "Failed attempts to send a mail: refused by the server (final), or server away (retried).",
    labelNames: ["reason"] as const,
  });
  for (const reason of ["refused", "away"]) mailsFailed.inc({ reason }, 0);
  return { mailsEnded, mailsFailed };
}

function auditMetrics(registry: Registry) {
  const auditBreaks = newCounter(registry, {
    name: "tollbooth_audit_breaks_total",
    help: "Broken chains of the audit log, by the kind of their first break.",
    labelNames: ["what"] as const,
  });
  for (const what of breaches) auditBreaks.inc({ what }, 0);
  return {
    auditBreaks,
    auditHeldAt: newGauge(registry, {
      name: "tollbooth_audit_held_timestamp_seconds",
      help: "Time of the last check that found every audit chain intact, seconds since 1970; before the first check, when the chains started.",
    }),
    auditHeldSeconds: newGauge(registry, {
      name: "tollbooth_audit_held_duration_seconds",
      help: "Duration of that check.",
    }),
  };
}
