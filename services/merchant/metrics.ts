// What operators can see of keys at ADMIN_PORT. Every series begins with 0, so that its first step counts as one.
import { Counter } from "#platform/parts/metric.ts";

/** Merchants that began to make many keys at once, by environment. */
export const keyBursts = new Counter({
  name: "tollbooth_api_key_bursts_total",
  help: "Times that a merchant made many API keys within minutes, by environment.",
  labelNames: ["environment"] as const,
});
for (const environment of ["sandbox", "live"]) keyBursts.inc({ environment }, 0);

/** Signs of a key in other hands. */
export const newNetworks = new Counter({
  name: "tollbooth_api_key_new_networks_total",
  help: "Networks that a live API key was used from for the first time; a key's first network is not counted.",
});

export const passkeyCopies = new Counter({
  name: "tollbooth_passkey_copies_total",
  help: "Sign-ins and proofs that were refused because a passkey's counter went back: somebody has a copy of it.",
});

/**
 * Mails that left the queue: `sent`, or `given_up` because their server refused them or was away for a day; and those
 * to buyers that were not queued, since their merchant had queued as many within the hour as it may (`over_limit`).
 */
export const mailsEnded = new Counter({
  name: "tollbooth_mails_total",
  help: "Mails that were sent, given up, or not queued: their merchant was over its hourly limit.",
  labelNames: ["outcome"] as const,
});
for (const outcome of ["sent", "given_up", "over_limit"]) mailsEnded.inc({ outcome }, 0);

/** `refused`: the server said no to this one; `away`: it was not reached, or took nothing. */
export const mailsFailed = new Counter({
  name: "tollbooth_mail_failures_total",
  help: "Times that a mail was not sent; all but refused ones are tried again.",
  labelNames: ["reason"] as const,
});
for (const reason of ["refused", "away"]) mailsFailed.inc({ reason }, 0);
