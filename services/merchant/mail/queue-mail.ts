// Queues a mail in the transaction of its cause: drawn and sealed now, sent by jobs/send-mails.ts. Where no mail can be
// sent nothing is queued.
import type { Sql } from "#platform/database/database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { newId } from "#platform/values/id.ts";
import type { MerchantContext } from "../context.ts";
import { insertMail } from "../store/mails.ts";
import { type DrawnMail, drawHtml, drawText, type MailBrand, type MailContent } from "./mail-content.ts";

/** Whoever is unreachable for a day gets it no more. */
const dayMs = 86_400_000;
export const ownBrand: MailBrand = { name: "Tollbooth", color: "#1f2937" };

export interface NewMail {
  /** Null: nobody is to get it; the same is written and the same work is done. */
  readonly to: string | null;
  readonly kind: string;
  readonly content: MailContent;
  readonly brand?: MailBrand;
  /** Empty or absent: the installation's, or a person's own. */
  readonly merchantId?: string;
  /** Of a mail to a buyer: it is counted; absent: it is to a person of the consoles. */
  readonly environment?: "sandbox" | "live";
  /** Who gets it by their role; absent: nobody by that. */
  readonly personId?: string;
  readonly objectId?: string;
  /** What happens twice is told once; absent: each time. */
  readonly onceKey?: string;
  /** Absent: it is transactional. */
  readonly unsubscribeUrl?: string;
  /** In whose name, and who is answered; absent: ours. */
  readonly senderName?: string;
  readonly replyTo?: string;
  /** Absent: at once. */
  readonly sendAt?: Date;
  /** When nobody needs it any more; absent: a day after it should have been sent. */
  readonly giveUpAt?: Date;
}

/** The caller wakes `mails` after the commit. @returns false: no mail can be sent */
export async function queueMail(
  { vault, canMail }: Pick<MerchantContext, "vault" | "canMail">,
  sql: Sql,
  mail: NewMail,
): Promise<boolean> {
  if (!canMail) return false;
  const { to, content, brand = ownBrand, unsubscribeUrl, senderName, replyTo } = mail;
  const id = newId("mail");
  const drawn: DrawnMail = {
    to: to ?? "",
    subject: content.subject,
    text: drawText(content, brand),
    html: drawHtml(content, brand),
    ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
    ...(senderName !== undefined && { senderName }),
    ...(replyTo !== undefined && { replyTo }),
  };
  const sealed = vault.encrypt(JSON.stringify(drawn), sealContext(id));
  const createdAt = clockNow();
  const sendAt = mail.sendAt ?? createdAt;
  await insertMail(sql, {
    id,
    kind: mail.kind,
    merchantId: mail.merchantId ?? "",
    personId: mail.personId ?? "",
    objectId: mail.objectId ?? "",
    onceKey: mail.onceKey ?? null,
    environment: mail.environment ?? "",
    sealed: to === null ? null : sealed,
    sendAt,
    giveUpAt: mail.giveUpAt ?? new Date(sendAt.getTime() + dayMs),
    createdAt,
  });
  return true;
}

/** What a mail's ciphertext is bound to. */
export function sealContext(id: string): string {
  return `mail:${id}`;
}
