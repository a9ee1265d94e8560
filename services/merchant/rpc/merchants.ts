// merchant.v1.MerchantService.
import type { ServiceImpl } from "@connectrpc/connect";
import { keysetPage } from "#platform/lists/cursor.ts";
import { requireFound } from "#platform/values/failure.ts";
import { Environment, type MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { createMerchant } from "../flows/create-merchant.ts";
import { updateBranding, updateProfile, updateStanding, uploadLogo } from "../flows/update-merchant.ts";
import { omitUndefined, toBranding, toMerchant } from "../messages.ts";
import type { MerchantStatus } from "../rules/profile.ts";
import { readBranding } from "../store/brandings.ts";
import { findLogo } from "../store/logos.ts";
import { findMerchant, listMerchants } from "../store/merchants.ts";
import { findSandboxProfile } from "../store/sandbox-profiles.ts";

export function merchantsRpc(context: MerchantContext): ServiceImpl<typeof MerchantService> {
  return {
    async createMerchant({ name, legalName, email, country, currency }) {
      const merchant = await createMerchant(context, { name, legalName, email, country, currency });
      return { merchant: toMerchant(merchant) };
    },
    async getMerchant({ merchantId, environment }) {
      const em = context.db.em();
      const merchant = requireFound(await findMerchant(em, merchantId));
      const isSandbox = environment === Environment.SANDBOX;
      return { merchant: toMerchant(merchant, isSandbox ? await findSandboxProfile(em, merchantId) : merchant) };
    },
    async listMerchants({ status, query, merchantIds: ids, pageSize, pageToken }) {
      // The proto's rule admits no other value.
      const filter = { status: (status || undefined) as MerchantStatus | undefined, query: query.trim(), ids };
      const { page, nextPageToken } = await keysetPage("merchant", { pageToken, limit: pageSize }, (id, limit) =>
        listMerchants(context.db.em(), { ...filter, beforeId: id || undefined, limit }),
      );
      return { merchants: page.map((merchant) => toMerchant(merchant)), nextPageToken };
    },
    async updateProfile({ merchantId, environment, country, currency, ...fields }) {
      const { name, legalName, email, phone, website, timeZone } = fields;
      const change = omitUndefined({ name, legalName, email, phone, website, timeZone });
      const home = omitUndefined({ country, currency });
      const { merchant, profile } = await updateProfile(context, { merchantId, environment }, change, home);
      return { merchant: toMerchant(merchant, profile) };
    },
    async updateMerchantState({ merchantId, status, refundsEnabled, failoverEnabled, reason }) {
      // The proto's rule admits no other value.
      const change = omitUndefined({ status: status as MerchantStatus | undefined, refundsEnabled, failoverEnabled });
      return { merchant: toMerchant(await updateStanding(context, merchantId, change, reason)) };
    },
    async getBranding({ merchantId, environment }) {
      const branding = requireFound(await readBranding(context.db, merchantId, environment));
      const { merchantName, legalName, merchantStatus } = branding;
      const canMail = context.canMail;
      return { branding: toBranding(branding), merchantName, legalName, merchantStatus, canMail };
    },
    async updateBranding({ merchantId, environment, $typeName: _, $unknown: __, ...change }) {
      const branding = await updateBranding(context, { merchantId, environment }, omitUndefined(change));
      return { branding: toBranding(branding) };
    },
    async uploadLogo({ merchantId, environment, content, origin }) {
      const branding = await uploadLogo(context, { merchantId, environment }, Buffer.from(content), origin);
      return { branding: toBranding(branding) };
    },
    async getLogo({ logoId }) {
      const logo = requireFound(await findLogo(context.db, logoId));
      return logo;
    },
  };
}
