// As whom mails about a merchant's matters are drawn: by the branding of its checkout page.
import type { Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { readBranding } from "../store/brandings.ts";
import type { MailBrand } from "./mail-content.ts";
import { ownBrand } from "./queue-mail.ts";

export async function brandOf(sql: Sql, merchantId: string, environment: Environment): Promise<MailBrand> {
  const branding = await readBranding(sql, merchantId, environment);
  if (!branding) return ownBrand;
  return { name: branding.displayName || branding.merchantName, color: branding.accentColor || ownBrand.color };
}
