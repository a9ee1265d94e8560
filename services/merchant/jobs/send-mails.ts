// Sends queued mails: claims a few, sends each outside any transaction and records the result. A mail that the server
// refuses is given up at once; other failures are retried with backoff until the mail's deadline.
import type { Database } from "#platform/database/database.ts";
import type { JobContext, Wake } from "#platform/process/job.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { clockNow } from "#platform/values/clock.ts";
import type { RenderedMail } from "../mail/mail-content.ts";
import { sealContext } from "../mail/queue-mail.ts";
import { MailRefused, type MailServer } from "../mail/smtp.ts";
import type { MerchantMetrics } from "../metrics.ts";
import { type ClaimedMail, claimMails, endMail, type MailQueue, postponeMail } from "../store/mails.ts";

const batchMax = 5;
/** Longer than a batch in which every send times out. */
const leaseSeconds = 240;
const pauseSecondsMin = 60;
const pauseSecondsMax = 3_600;

interface MailJob {
  readonly db: Database;
  readonly vault: Vault;
  readonly log: Log;
  readonly server: MailServer;
  readonly metrics: MerchantMetrics;
  readonly wake: Wake;
}

/** Each queue has its own job, so other mails never delay one that a sign-in waits for. */
export function sendMailsJobs(deps: MailJob): JobContext[] {
  const job = (name: string, queue: MailQueue) => {
    return { name, everyMs: 2_000, wake: deps.wake, runOnce: () => sendDue(deps, queue) };
  };
  return [job("send-sign-in-mails", "sign_ins"), job("send-mails", "others")];
}

async function sendDue(deps: MailJob, queue: MailQueue): Promise<boolean> {
  const claimed = await claimMails(deps.db, queue, batchMax, leaseSeconds);
  for (const mail of claimed) await sendOne(deps, mail);
  return claimed.length === batchMax;
}

async function sendOne({ db, vault, log, server, metrics }: MailJob, mail: ClaimedMail): Promise<void> {
  const about = { mail_id: mail.id, kind: mail.kind, attempt: mail.attempts };
  try {
    const rendered: RenderedMail = JSON.parse(vault.decrypt(mail.sealed, sealContext(mail.id)).toString());
    await server.send(mail.id, rendered);
  } catch (error) {
    // Only the code is logged, since servers name the recipient in their answers.
    const why = error instanceof Error && "responseCode" in error ? error.responseCode : undefined;
    const isOver = error instanceof MailRefused || mail.giveUpAt <= clockNow();
    metrics.mailsFailed.inc({ reason: error instanceof MailRefused ? "refused" : "away" });
    log.warn({ ...about, why, given_up: isOver }, "mail not sent");
    if (!isOver) return await postponeMail(db, mail.id, pauseSeconds(mail.attempts));
    metrics.mailsEnded.inc({ outcome: "given_up" });
    return await endMail(db, mail.id, "given_up");
  }
  metrics.mailsEnded.inc({ outcome: "sent" });
  await endMail(db, mail.id, "sent");
}

function pauseSeconds(attempts: number): number {
  return Math.min(pauseSecondsMax, pauseSecondsMin * 2 ** Math.min(attempts - 1, 10));
}
