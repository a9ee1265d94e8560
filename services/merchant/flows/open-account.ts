// Connector accounts with their credentials: opens the simulator account of a new merchant, and opens the seal of an
// account's credentials for payments. Credentials are ciphertext everywhere else.
import type { Sql } from "#platform/database/database.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { idSuffix, newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { surfaces } from "../rules/connector-choice.ts";
import { type AccountRow, insertConnector } from "../store/connectors.ts";

/** Inserts the merchant's primary sandbox account at the simulator, within the caller's transaction. */
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
    externalAccountId,
  };
  await insertConnector(sql, connector, sealCredentials(context.vault, id, credentials));
}

/** Ciphertext that opens for this account only. */
export function sealCredentials(vault: Vault, connectorId: string, credentials: Record<string, string>): Buffer {
  return vault.encrypt(JSON.stringify(credentials), sealContext(connectorId));
}

/** The account's credentials by their names at the connector. */
export function unsealCredentials(vault: Vault, account: AccountRow): Record<string, string> {
  const plain = vault.decrypt(account.credentials, sealContext(account.connector.id)).toString();
  const parsed: unknown = JSON.parse(plain);
  if (typeof parsed !== "object" || parsed === null) throw new Error("credentials are not an object");
  const credentials: Record<string, string> = {};
  for (const [name, value] of Object.entries(parsed)) {
    if (typeof value !== "string") throw new Error("a credential is not a text");
    credentials[name] = value;
  }
  return credentials;
}

function sealContext(connectorId: string): string {
  return `connector:${connectorId}`;
}
