// merchant.v1.ConnectorService: every method in its order.
import type { ServiceImpl } from "@connectrpc/connect";
import { invalid } from "#platform/values/failure.ts";
import type { ConnectorService, GetConnectorAccountRequest } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { type AccountName, activeAccounts, namedAccounts } from "../flows/find-account.ts";
import { unsealCredentials } from "../flows/open-account.ts";
import { deactivateAccount, saveAccount } from "../flows/save-account.ts";
import { changeConnector } from "../flows/update-connector.ts";
import { toConnector, toConnectorAccount } from "../messages.ts";
import { type AccountRow, listConnectors } from "../store/connectors.ts";

export function connectorsRpc(context: MerchantContext): ServiceImpl<typeof ConnectorService> {
  const opened = (account: AccountRow) => ({
    account: toConnectorAccount(account, unsealCredentials(context.vault, account)),
  });
  return {
    async listConnectors({ merchantId, environment }) {
      return { connectors: (await listConnectors(context.db, merchantId, environment)).map(toConnector) };
    },
    async updateConnector({ merchantId, environment, connectorId, selectedSurface, makeDefault }) {
      const change = { merchantId, environment, connectorId, selectedSurface, makePrimary: makeDefault };
      return { connector: toConnector(await changeConnector(context, change)) };
    },
    async getActiveConnectorAccount({ merchantId, environment }) {
      const { account, fallbacks } = await activeAccounts(context.db, merchantId, environment);
      return { ...opened(account), fallbacks: fallbacks.map((each) => opened(each).account) };
    },
    async getConnectorAccount(request) {
      const [account, other] = await namedAccounts(context.db, accountName(request));
      const otherEnvironment = other && opened(other).account;
      return { ...opened(account), ...(otherEnvironment && { otherEnvironment }) };
    },
    async saveConnectorAccount({ makeDefault, $typeName: _, $unknown: __, ...account }) {
      return { connector: toConnector(await saveAccount(context, { ...account, makePrimary: makeDefault })) };
    },
    async deactivateConnector({ merchantId, environment, connectorId }) {
      return { connector: toConnector(await deactivateAccount(context, { merchantId, environment, connectorId })) };
    },
  };
}

function accountName(request: GetConnectorAccountRequest): AccountName {
  if (request.by.case === "connectorId") return { id: request.by.value };
  if (request.by.case === "external") return request.by.value;
  throw invalid("by", "is required");
}
