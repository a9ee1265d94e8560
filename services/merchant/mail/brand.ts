// As whom mails about a merchant's matters are drawn: by the branding of its checkout page.
import type { Sql } from "#platform/database/database.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { readBranding, type ShownBranding } from "../store/brandings.ts";
import type { MailBrand } from "./mail-content.ts";
import { ownBrand } from "./queue-mail.ts";

export async function brandOf(sql: Sql, merchantId: string, environment: Environment): Promise<MailBrand> {
  const branding = await readBranding(sql, merchantId, environment);
  return branding ? drawnAs(branding) : ownBrand;
}

function drawnAs({ displayName, merchantName, accentColor }: ShownBranding): MailBrand {
  return { name: displayName || merchantName, color: accentColor || ownBrand.color };
}

/**
 * As whom a merchant writes to its buyers: what the mail says of the shop, and its head. Of a sandbox it shows no text
 * that the shop wrote: the address is proved by nobody and the mail costs nothing, so anything else would be spam.
 */
export function shopOf(branding: ShownBranding, environment: Environment) {
  if (environment === Environment.SANDBOX) {
    const { merchantId } = branding;
    return { merchantName: merchantId, legalName: "", supportEmail: "", isSandbox: true, head: {} };
  }
  const { supportEmail, legalName } = branding;
  const brand = drawnAs(branding);
  const head = { brand, senderName: brand.name, ...(supportEmail !== "" && { replyTo: supportEmail }) };
  return { merchantName: brand.name, legalName, supportEmail, isSandbox: false, head };
}
