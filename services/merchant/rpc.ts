// The door of the merchant service: every method of merchant.v1 in its order; what stands behind each is in flows/ and store/.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { callContext } from "#platform/call-context.ts";
import { Failure, invalid } from "#platform/failure.ts";
import { isId } from "#platform/id.ts";
import {
  ApiKeyService,
  ApplicationService,
  ConnectorService,
  Environment,
  type GetConnectorAccountRequest,
  MerchantService,
  type UpdateMerchantStateRequest,
} from "#proto/merchant/v1/merchant_pb.ts";
import { authenticateKey } from "./flows/authenticate-key.ts";
import type { MerchantContext } from "./flows/context.ts";
import { createMerchant } from "./flows/create-merchant.ts";
import { type AccountName, activeAccounts, namedAccounts } from "./flows/find-account.ts";
import { createApiKey, limitApiKey, revokeApiKey, rollApiKey } from "./flows/manage-api-key.ts";
import { createApplication, moveApplication } from "./flows/move-application.ts";
import { unsealCredentials } from "./flows/open-account.ts";
import { recordKeyUses } from "./flows/record-key-uses.ts";
import { deactivateAccount, saveAccount } from "./flows/save-account.ts";
import { updateBranding } from "./flows/update-branding.ts";
import { changeConnector } from "./flows/update-connector.ts";
import { updateProfile, updateStanding } from "./flows/update-merchant.ts";
import type { ApplicationStatus } from "./rules/application.ts";
import type { MerchantStatus } from "./rules/profile.ts";
import { listKeys } from "./store/api-keys.ts";
import { listApplications } from "./store/applications.ts";
import { readBranding } from "./store/brandings.ts";
import { type AccountRow, listConnectors } from "./store/connectors.ts";
import { findMerchant, listMerchants } from "./store/merchants.ts";
import { findSandboxProfile } from "./store/sandbox-profiles.ts";
import {
  accountToWire,
  apiKeyToWire,
  applicationToWire,
  brandingToWire,
  connectorToWire,
  given,
  merchantToWire,
} from "./wire.ts";

export const merchantServices = [MerchantService, ApiKeyService, ConnectorService, ApplicationService] as const;

/** Registers all services of merchant.v1. */
export function merchantRoutes(context: MerchantContext): (router: ConnectRouter) => void {
  return (router) => {
    router.service(MerchantService, merchants(context));
    router.service(ApiKeyService, apiKeys(context));
    router.service(ConnectorService, connectors(context));
    router.service(ApplicationService, applications(context));
  };
}

function merchants(context: MerchantContext): ServiceImpl<typeof MerchantService> {
  return {
    async createMerchant({ name, legalName, email, country, currency }) {
      const merchant = await createMerchant(context, { name, legalName, email, country, currency });
      return { merchant: merchantToWire(merchant) };
    },
    async getMerchant({ merchantId, environment }) {
      const em = context.db.em();
      const merchant = await findMerchant(em, merchantId);
      if (!merchant) throw new Failure("NOT_FOUND");
      const isSandbox = environment === Environment.SANDBOX;
      return { merchant: merchantToWire(merchant, isSandbox ? await findSandboxProfile(em, merchantId) : merchant) };
    },
    async listMerchants({ status, pageSize, pageToken }) {
      // The ids sort by creation, so the last one of a page is where the next begins.
      if (pageToken !== "" && !isId("merchant", pageToken)) throw invalid("page_token", "is not one of ours");
      const limit = pageSize || pageSizeDefault;
      const found = await listMerchants(context.db.em(), {
        status: statusNamed(status),
        beforeId: pageToken || undefined,
        limit: limit + 1,
      });
      const page = found.slice(0, limit);
      const nextPageToken = found.length > limit ? (page.at(-1)?.id ?? "") : "";
      return { merchants: page.map((merchant) => merchantToWire(merchant)), nextPageToken };
    },
    async updateProfile({ merchantId, environment, name, legalName, email, phone, website }) {
      const change = given({ name, legalName, email, phone, website });
      const { merchant, profile } = await updateProfile(context, { merchantId, environment }, change);
      return { merchant: merchantToWire(merchant, profile) };
    },
    async updateMerchantState(request) {
      const { refundsEnabled, failoverEnabled } = request;
      const change = given({ status: statusOf(request), refundsEnabled, failoverEnabled });
      return { merchant: merchantToWire(await updateStanding(context, request.merchantId, change)) };
    },
    async getBranding({ merchantId, environment }) {
      const branding = await readBranding(context.db, merchantId, environment);
      if (!branding) throw new Failure("NOT_FOUND");
      const { merchantName, merchantStatus } = branding;
      return { branding: brandingToWire(branding), merchantName, merchantStatus };
    },
    async updateBranding({ merchantId, environment, $typeName: _, $unknown: __, ...change }) {
      return { branding: brandingToWire(await updateBranding(context, { merchantId, environment }, given(change))) };
    },
  };
}

function apiKeys(context: MerchantContext): ServiceImpl<typeof ApiKeyService> {
  return {
    async authenticateKey({ apiKey }) {
      const { key, merchantStatus } = await authenticateKey(context, apiKey);
      return { apiKey: apiKeyToWire(key, new Date()), merchantId: key.merchantId, merchantStatus };
    },
    async createApiKey({ merchantId, environment, name, scopes, expiresAt, allowedIps }) {
      const expiry = expiresAt ? timestampDate(expiresAt) : null;
      const owner = { merchantId, environment, callerId: callingKey() };
      const power = { scopes, expiresAt: expiry, allowedIps: allowedIps?.ranges };
      const issued = await createApiKey(context, { ...owner, name, ...power });
      return { secret: issued.secret, apiKey: apiKeyToWire(issued.key, new Date()) };
    },
    async listApiKeys({ merchantId, environment, limit, offset, afterId }) {
      const now = new Date();
      const page = { limit: limit || keysPageDefault, offset: Number(offset), afterId, now };
      const isKey = afterId === "" || isId("apiKey", afterId);
      const found = isKey && (await context.db.snapshot((sql) => listKeys(sql, { merchantId, environment }, page)));
      if (!found) throw invalid("after", "is none of these keys");
      const apiKeys = found.keys.map((key) => apiKeyToWire(key, now));
      return { apiKeys, total: BigInt(found.total), offset: BigInt(found.offset) };
    },
    async rollApiKey({ merchantId, environment, apiKeyId, overlapSeconds }) {
      const wish = { merchantId, environment, callerId: callingKey(), id: apiKeyId };
      const issued = await rollApiKey(context, wish, overlapSeconds);
      return { secret: issued.secret, apiKey: apiKeyToWire(issued.key, new Date()) };
    },
    async limitApiKey({ merchantId, environment, apiKeyId, allowedIps }) {
      const wish = { merchantId, environment, callerId: callingKey(), id: apiKeyId };
      const limited = await limitApiKey(context, wish, allowedIps?.ranges ?? []);
      return { apiKey: apiKeyToWire(limited, new Date()) };
    },
    async revokeApiKey({ merchantId, environment, apiKeyId }) {
      const revoked = await revokeApiKey(context, { merchantId, environment }, apiKeyId);
      return { apiKey: apiKeyToWire(revoked, new Date()) };
    },
    async recordKeyUse({ uses }) {
      const known = uses.flatMap(({ apiKeyId: id, usedAt, networks }) =>
        usedAt && isId("apiKey", id) ? [{ id, usedAt: timestampDate(usedAt), networks }] : [],
      );
      if (known.length > 0) await recordKeyUses(context, known);
      return {};
    },
  };
}

function connectors(context: MerchantContext): ServiceImpl<typeof ConnectorService> {
  const opened = (account: AccountRow) => ({
    account: accountToWire(account, unsealCredentials(context.vault, account)),
  });
  return {
    async listConnectors({ merchantId, environment }) {
      return { connectors: (await listConnectors(context.db, merchantId, environment)).map(connectorToWire) };
    },
    async updateConnector({ merchantId, environment, connectorId, selectedSurface, makeDefault }) {
      const wish = { merchantId, environment, connectorId, selectedSurface, makePrimary: makeDefault };
      return { connector: connectorToWire(await changeConnector(context, wish)) };
    },
    async getActiveConnectorAccount({ merchantId, environment }) {
      const { account, standIns } = await activeAccounts(context.db, merchantId, environment);
      return { ...opened(account), standIns: standIns.map((each) => opened(each).account) };
    },
    async getConnectorAccount(request) {
      const [account, other] = await namedAccounts(context.db, accountName(request));
      const otherEnvironment = other && opened(other).account;
      return { ...opened(account), ...(otherEnvironment && { otherEnvironment }) };
    },
    async saveConnectorAccount({ makeDefault, $typeName: _, $unknown: __, ...account }) {
      return { connector: connectorToWire(await saveAccount(context, { ...account, makePrimary: makeDefault })) };
    },
    async deactivateConnector({ merchantId, environment, connectorId }) {
      return { connector: connectorToWire(await deactivateAccount(context, { merchantId, environment, connectorId })) };
    },
  };
}

function applications(context: MerchantContext): ServiceImpl<typeof ApplicationService> {
  return {
    async createApplication({ applicantEmail, legalName, tradingName, countryCode, currencyCode }) {
      const fields = { applicantEmail, legalName, tradingName, countryCode, currencyCode };
      return { application: applicationToWire(await createApplication(context, fields)) };
    },
    async submitApplication({ applicationId }) {
      return { application: applicationToWire(await moveApplication(context, applicationId, "submit")) };
    },
    async listApplications({ status, pageSize, pageToken }) {
      // The ids sort by creation, so the last one of a page is where the next begins.
      if (pageToken !== "" && !isId("application", pageToken)) throw invalid("page_token", "is not one of ours");
      const limit = pageSize || pageSizeDefault;
      const beforeId = pageToken || undefined;
      const found = await listApplications(context.db.em(), {
        status: applicationStatus(status),
        beforeId,
        limit: limit + 1,
      });
      const page = found.slice(0, limit);
      const nextPageToken = found.length > limit ? (page.at(-1)?.id ?? "") : "";
      return { applications: page.map(applicationToWire), nextPageToken };
    },
    async approveApplication({ applicationId }) {
      return { application: applicationToWire(await moveApplication(context, applicationId, "approve")) };
    },
    async rejectApplication({ applicationId }) {
      return { application: applicationToWire(await moveApplication(context, applicationId, "reject")) };
    },
  };
}

const pageSizeDefault = 50;
// What the list answered before it had pages, so that a caller who knows none misses nothing now.
const keysPageDefault = 200;

/** The API key on whose behalf the call is made; undefined: an operator's call. */
function callingKey(): string | undefined {
  const actor = callContext.getStore()?.actor ?? "";
  return actor.startsWith("ak_") ? actor : undefined;
}

function statusOf(request: UpdateMerchantStateRequest): MerchantStatus | undefined {
  const statuses: readonly MerchantStatus[] = ["active", "suspended", "closed"];
  return statuses.find((status) => status === request.status);
}

function statusNamed(text: string): MerchantStatus | undefined {
  const statuses: readonly MerchantStatus[] = ["pending", "active", "suspended", "closed"];
  return statuses.find((status) => status === text);
}

function applicationStatus(text: string): ApplicationStatus | undefined {
  const statuses: readonly ApplicationStatus[] = ["draft", "submitted", "approved", "rejected"];
  return statuses.find((status) => status === text);
}

function accountName(request: GetConnectorAccountRequest): AccountName {
  if (request.by.case === "connectorId") return { id: request.by.value };
  if (request.by.case === "external") return request.by.value;
  throw invalid("by", "is required");
}
