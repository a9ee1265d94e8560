// Sends what is queued: claims a few mails, sends each outside any transaction, records what became of it. One that the
// server refuses is given up at once; whatever else goes wrong is tried again, ever more rarely, until nobody needs it.
import type { Database } from "#platform/database/database.ts";
import type { JobContext, Wake } from "#platform/process/job.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { clockNow } from "#platform/values/clock.ts";
import type { DrawnMail } from "../mail/mail-content.ts";
import { sealContext } from "../mail/queue-mail.ts";
import { MailRefused, type MailServer } from "../mail/smtp.ts";
import type { MerchantMetrics } from "../metrics.ts";
import { type ClaimedMail, claimMails, endMail, type MailQueue, postponeMail } from "../store/mails.ts";

const batchMax = 5;
/** Longer than a batch takes in which every server is silent to its deadline. */
const leaseSeconds = 240;
const pauseSecondsMin = 60;
const pauseSecondsMax = 3_600;

export interface MailJob {
  readonly db: Database;
  readonly vault: Vault;
  readonly log: Log;
  readonly server: MailServer;
  readonly metrics: MerchantMetrics;
  readonly wake: Wake;
}

/** Each queue has a job of its own: no number of other mails delays one that a sign-in waits for. */
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
    await server.send(mail.id, readDrawn(vault.decrypt(mail.sealed, sealContext(mail.id)).toString()));
  } catch (error) {
    // Servers say in their answers whom a mail was for.
    const why = error instanceof Error && "responseCode" in error ? error.responseCode : undefined;
    const isOver = error instanceof MailRefused || mail.giveUpAt <= clockNow();
    metrics.mailsFailed.inc({ reason: error instanceof MailRefused ? "refused" : "away" });
    log.warn({ ...about, why, given_up: isOver }, "a mail was not sent");
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

function readDrawn(json: string): DrawnMail {
  const found = new Map<string, unknown>(Object.entries(JSON.parse(json)));
  const text = (name: string) => {
    const value = found.get(name);
    if (typeof value !== "string") throw new Error("a mail without its text");
    return value;
  };
  const optionalText = <K extends string>(name: K): { readonly [P in K]?: string } => {
    const value = found.get(name);
    return typeof value === "string" ? ({ [name]: value } as { readonly [P in K]: string }) : {};
  };
  return {
    to: text("to"),
    subject: text("subject"),
    text: text("text"),
    html: text("html"),
    ...optionalText("unsubscribeUrl"),
    ...optionalText("senderName"),
    ...optionalText("replyTo"),
  };
}
