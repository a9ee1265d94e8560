// merchant.v1.ConnectorService.
import type { ServiceImpl } from "@connectrpc/connect";
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import type { ConnectorService, GetConnectorAccountRequest } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { changeConnector, chooseMethods, deactivateAccount, saveAccount } from "../flows/manage-connector.ts";
import { unsealCredentials } from "../flows/open-account.ts";
import { replaceRouting } from "../flows/replace-routing.ts";
import { fromRouting, toConnector, toConnectorAccount, toRouting } from "../messages.ts";
import { chooseConnector } from "../rules/connector-choice.ts";
import {
  type AccountRow,
  fallbacksMax,
  findAccountById,
  findAccountsByExternal,
  findCandidates,
  listConnectors,
} from "../store/connectors.ts";
import { findRouting } from "../store/routings.ts";

export function connectorsRpc(context: MerchantContext): ServiceImpl<typeof ConnectorService> {
  const { db, vault } = context;
  const accountOf = (account: AccountRow) => ({
    account: toConnectorAccount(account, unsealCredentials(vault, account)),
  });
  return {
    async listConnectors({ merchantId, environment }) {
      return { connectors: (await listConnectors(db, merchantId, environment)).map(toConnector) };
    },
    async updateConnector({ merchantId, environment, connectorId, selectedSurface, makeDefault }) {
      const change = { merchantId, environment, connectorId, selectedSurface, makePrimary: makeDefault };
      return { connector: toConnector(await changeConnector(context, change)) };
    },
    async getRouting({ merchantId, environment }) {
      const routing = requireFound(await findRouting(db, merchantId, environment));
      return { routing: toRouting(routing) };
    },
    async replaceRouting({ merchantId, environment, routing }) {
      if (!routing) throw invalidField("routing", "is required");
      const replaced = await replaceRouting(context, { merchantId, environment }, fromRouting(routing));
      return { routing: toRouting(replaced) };
    },
    async getActiveConnectorAccount({ merchantId, environment, connectorId }) {
      const found = requireFound(await findCandidates(db, merchantId, environment, connectorId));
      const mayFallBack = found.routing.onOutage === "next";
      const choice = chooseConnector(found.merchantStatus, found.accounts, mayFallBack ? fallbacksMax : 0);
      if (choice.kind === "refused") throw new Failure(choice.reason);
      const toMessages = (accounts: readonly AccountRow[]) => accounts.map((each) => accountOf(each).account);
      return {
        ...accountOf(choice.account),
        fallbacks: toMessages(choice.fallbacks),
        others: toMessages(choice.others),
        routing: toRouting(found.routing),
      };
    },
    async getConnectorAccount(request) {
      const [account, other] = await findAccounts(context, request);
      if (!account) throw new Failure("NOT_FOUND");
      const otherEnvironment = other && accountOf(other).account;
      return { ...accountOf(account), ...(otherEnvironment && { otherEnvironment }) };
    },
    async saveConnectorAccount({ makeDefault, $typeName: _, $unknown: __, ...account }) {
      return { connector: toConnector(await saveAccount(context, { ...account, makePrimary: makeDefault })) };
    },
    async setPaymentMethods(request) {
      return { connector: toConnector(await chooseMethods(context, request)) };
    },
    async deactivateConnector({ merchantId, environment, connectorId }) {
      return { connector: toConnector(await deactivateAccount(context, { merchantId, environment, connectorId })) };
    },
  };
}

/** By our id one account; by the processor's name for it at most one of each environment. */
async function findAccounts({ db }: MerchantContext, { by }: GetConnectorAccountRequest): Promise<AccountRow[]> {
  if (by.case === "external") return await findAccountsByExternal(db, by.value.connector, by.value.externalAccountId);
  if (by.case !== "connectorId") throw invalidField("by", "is required");
  const account = await findAccountById(db, by.value);
  return account ? [account] : [];
}
