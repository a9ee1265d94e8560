// The brand of mails about a merchant, from the branding of its checkout page.
import type { Sql } from "#platform/database/database.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { readBranding, type ShownBranding } from "../store/brandings.ts";
import type { MailBrand } from "./mail-content.ts";
import { ownBrand } from "./queue-mail.ts";

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
