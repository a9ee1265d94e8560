// payments.v1.ConnectorAccountService, in proto order.
import type { ServiceImpl } from "@connectrpc/connect";
import type { ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";
import {
  addAccount,
  type ConnectorAccountDeps,
  checkAccount,
  deactivateAccount,
  rotateCredentials,
} from "../flows/accounts/connector-accounts.ts";
import { toAccountStatus } from "../messages.ts";

export function connectorAccountsRpc(deps: ConnectorAccountDeps): ServiceImpl<typeof ConnectorAccountService> {
  return {
    addConnectorAccount: async (request) => {
      const { connector, account, webhookPath } = await addAccount(deps, request);
      return { ...(connector && { connector }), account: toAccountStatus(account), webhookPath };
    },
    checkConnectorAccount: async (request) => ({ account: toAccountStatus(await checkAccount(deps, request)) }),
    rotateConnectorCredentials: async (request) => {
      const { connector, account } = await rotateCredentials(deps, request);
      return { ...(connector && { connector }), account: toAccountStatus(account) };
    },
    deactivateConnectorAccount: async (request) => {
      const connector = await deactivateAccount(deps, request);
      return { ...(connector && { connector }) };
    },
  };
}
