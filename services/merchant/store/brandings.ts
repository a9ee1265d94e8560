// The tables brandings (live) and sandbox_brandings, one row per merchant in each. A trigger inserts the sandbox row.
import { defineEntity, type InferEntity, LockMode, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Sql } from "#platform/database/database.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantStatus } from "../rules/profile.ts";

const columns = () => ({
  merchantId: p.string().primary(),
  displayName: p.string(),
  tagline: p.string(),
  logoUrl: p.string(),
  accentColor: p.string(),
  secondaryColor: p.string(),
  supportEmail: p.string(),
  buttonStyle: p.string(),
  backgroundStyle: p.string(),
  theme: p.string(),
  fontFamily: p.string(),
  termsUrl: p.string(),
  privacyUrl: p.string(),
  emailField: p.string(),
  emailReceipts: p.string(),
});

export const BrandingEntity = defineEntity({ name: "Branding", tableName: "brandings", properties: columns() });
export const SandboxBrandingEntity = defineEntity({
  name: "SandboxBranding",
  tableName: "sandbox_brandings",
  properties: columns(),
});
export type BrandingRow = InferEntity<typeof BrandingEntity>;

export async function insertBranding(em: SqlEntityManager, branding: BrandingRow): Promise<void> {
  await em.insert(BrandingEntity, branding);
}

export type ShownBranding = BrandingRow & {
  readonly merchantName: string;
  readonly legalName: string;
  readonly merchantStatus: MerchantStatus;
};

/** One statement, since every opened checkout page reads it. */
export async function readBranding(
  sql: Sql,
  merchantId: string,
  environment: Environment,
): Promise<ShownBranding | undefined> {
  const copy =
    environment === Environment.SANDBOX
      ? "sandbox_brandings b join sandbox_profiles m on m.merchant_id = b.merchant_id"
      : "brandings b join merchants m on m.id = b.merchant_id";
  const [row] = await sql.rows<ShownBranding>(
    `select b.merchant_id as "merchantId", b.display_name as "displayName", b.tagline, b.logo_url as "logoUrl",
       b.accent_color as "accentColor", b.secondary_color as "secondaryColor", b.support_email as "supportEmail",
       b.button_style as "buttonStyle", b.background_style as "backgroundStyle", b.theme, b.font_family as "fontFamily",
       b.terms_url as "termsUrl", b.privacy_url as "privacyUrl",
       b.email_field as "emailField", b.email_receipts as "emailReceipts",
       m.name as "merchantName", m.legal_name as "legalName", owner.status as "merchantStatus"
     from ${copy} join merchants owner on owner.id = b.merchant_id where b.merchant_id = $1`,
    [merchantId],
  );
  return row;
}

/** Assigned fields are written at the commit. */
export function lockBranding(
  em: SqlEntityManager,
  merchantId: string,
  environment: Environment,
): Promise<BrandingRow | null> {
  const copy = environment === Environment.SANDBOX ? SandboxBrandingEntity : BrandingEntity;
  return em.findOne(copy, { merchantId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}
