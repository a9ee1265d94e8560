// Opens a new merchant's simulator account, and encrypts and decrypts accounts' credentials.
import type { Sql } from "#platform/database/database.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { idSuffix, newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { surfaces } from "../rules/connector-choice.ts";
import { type AccountRow, insertConnector } from "../store/connectors.ts";

/** Inserts the merchant's primary sandbox account in the caller's transaction. */
export async function openSimulatorAccount(context: MerchantContext, sql: Sql, merchantId: string): Promise<void> {
  const id = newId("connector");
  const externalAccountId = `acct_${idSuffix(id)}`;
  const { secretKey, webhookSecret } = context.simulator;
  const credentials = { account: externalAccountId, secret_key: secretKey, webhook_secret: webhookSecret };
  const connector = {
    id,
    merchantId,
    environment: Environment.SANDBOX,
    connector: "simulator",
    isPrimary: true,
    isActive: true,
    canBePrimary: true,
    allowedSurfaces: [...surfaces],
    defaultSurface: "embedded",
    selectedSurface: undefined,
    paymentMethods: ["card"],
    externalAccountId,
  };
  await insertConnector(sql, connector, sealCredentials(context.vault, id, credentials));
}

/** The ciphertext is bound to the account. */
export function sealCredentials(vault: Vault, connectorId: string, credentials: Record<string, string>): Buffer {
  return vault.encrypt(JSON.stringify(credentials), sealContext(connectorId));
}

export function unsealCredentials(vault: Vault, account: AccountRow): Record<string, string> {
  return JSON.parse(vault.decrypt(account.credentials, sealContext(account.connector.id)).toString());
}

function sealContext(connectorId: string): string {
  return `connector:${connectorId}`;
}
