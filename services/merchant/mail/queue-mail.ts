// Renders, encrypts and queues a mail in the transaction of its cause; jobs/send-mails.ts sends it.
import type { Sql } from "#platform/database/database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import type { Language } from "../rules/people/person.ts";
import { readBranding, type ShownBranding } from "../store/brandings.ts";
import { insertMail } from "../store/mails.ts";
import { englishMails } from "./english-mails.ts";
import { germanMails } from "./german-mails.ts";
import {
  type MailBrand,
  type MailContent,
  type MailTexts,
  type RenderedMail,
  renderHtml,
  renderText,
} from "./mail-content.ts";

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

export async function brandOf(sql: Sql, merchantId: string, environment: Environment): Promise<MailBrand> {
  const branding = await readBranding(sql, merchantId, environment);
  return branding ? mailBrand(branding) : ownBrand;
}

function mailBrand({ displayName, merchantName, accentColor }: ShownBranding): MailBrand {
  return { name: displayName || merchantName, color: accentColor || ownBrand.color };
}

/**
 * The shop's details and mail headers for a mail to a buyer. A sandbox mail contains no text by the shop: the buyer's
 * address is not verified and a sandbox payment costs nothing, so the text could be spam.
 */
export function shopOf(branding: ShownBranding, environment: Environment) {
  if (environment === Environment.SANDBOX) {
    const { merchantId } = branding;
    return { merchantName: merchantId, legalName: "", supportEmail: "", isSandbox: true, head: {} };
  }
  const { supportEmail, legalName } = branding;
  const brand = mailBrand(branding);
  const head = { brand, senderName: brand.name, ...(supportEmail !== "" && { replyTo: supportEmail }) };
  return { merchantName: brand.name, legalName, supportEmail, isSandbox: false, head };
}
