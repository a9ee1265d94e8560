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

/** As whom a merchant writes to its buyers: what the mail says of the shop, and its head. */
export function shopOf(branding: ShownBranding, environment: Environment) {
  const { supportEmail } = branding;
  const brand = drawnAs(branding);
  const head = { brand, senderName: brand.name, ...(supportEmail !== "" && { replyTo: supportEmail }) };
  return { said: { merchantName: brand.name, supportEmail, isSandbox: environment === Environment.SANDBOX }, head };
}
