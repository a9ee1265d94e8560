// Renders, encrypts and queues a mail in the transaction of its cause; jobs/send-mails.ts sends it.
import type { Sql } from "#platform/database/database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { newId } from "#platform/values/id.ts";
import type { MerchantContext } from "../context.ts";
import type { Language } from "../rules/people/person.ts";
import { insertMail } from "../store/mails.ts";
import { englishMails } from "./english-mails.ts";
import { germanMails } from "./german-mails.ts";
import { type MailBrand, type MailContent, type RenderedMail, renderHtml, renderText } from "./mail-content.ts";
import type { MailTexts } from "./mail-facts.ts";

const dayMs = 86_400_000;
export const ownBrand: MailBrand = { name: "Tollbooth", color: "#1f2937" };

/** English is the default language. */
export function mailTexts(language: Language): MailTexts {
  return language === "de" ? germanMails : englishMails;
}

export interface NewMail {
  /**
   * Null for an unknown address: the same work is done and a row without content is stored, so timing reveals nothing.
   */
  readonly to: string | null;
  readonly kind: string;
  readonly content: MailContent;
  readonly brand?: MailBrand;
  /** Absent for mails of the installation or about a person's own account. */
  readonly merchantId?: string;
  /** Only for mails to buyers, which are counted. */
  readonly environment?: "sandbox" | "live";
  /** The person who receives it because of their role. */
  readonly personId?: string;
  readonly objectId?: string;
  /** Deduplication key. */
  readonly onceKey?: string;
  /** Absent in transactional mails. */
  readonly unsubscribeUrl?: string;
  readonly senderName?: string;
  readonly replyTo?: string;
  /** Default: now. */
  readonly sendAt?: Date;
  /** Default: a day after `sendAt`. */
  readonly giveUpAt?: Date;
}

/** The caller wakes `mails` after the commit. @returns false if no mail server is configured */
export async function queueMail(
  { vault, canMail }: Pick<MerchantContext, "vault" | "canMail">,
  sql: Sql,
  mail: NewMail,
): Promise<boolean> {
  if (!canMail) return false;
  const { to, content, brand = ownBrand, unsubscribeUrl, senderName, replyTo } = mail;
  const id = newId("mail");
  const rendered: RenderedMail = {
    to: to ?? "",
    subject: content.subject,
    text: renderText(content, brand),
    html: renderHtml(content, brand),
    ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
    ...(senderName !== undefined && { senderName }),
    ...(replyTo !== undefined && { replyTo }),
  };
  const sealed = vault.encrypt(JSON.stringify(rendered), sealContext(id));
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

/** The vault context of a mail's ciphertext. */
export function sealContext(id: string): string {
  return `mail:${id}`;
}
