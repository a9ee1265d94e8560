// Adds, checks, rotates and deactivates merchants' accounts at processors. Phases, each one repeatable call: 1 the
// stored account (merchant) · 2 read the account at the processor · 3 store (merchant).
import type { Client } from "@connectrpc/connect";
import { Failure, type Violation } from "#platform/values/failure.ts";
import {
  type Connector as ConnectorMessage,
  type ConnectorService,
  Environment,
} from "#proto/merchant/v1/merchant_pb.ts";
import type { AccountReport, Connector, ProcessorAccount } from "../../connectors/connector.ts";
import type { Connectors } from "../../connectors/registry.ts";
import { type Accounts, provenValue } from "./ask-processor.ts";

export interface ConnectorAccountDeps {
  readonly connectors: Connectors;
  readonly accounts: Accounts;
  readonly merchants: Client<typeof ConnectorService>;
}

type Credentials = Record<string, string>;
type Owner = { readonly merchantId: string; readonly environment: Environment };
export type ConnectorKey = Owner & { readonly connectorId: string };

interface StoredAccount {
  readonly connector: ConnectorMessage | undefined;
  readonly account: AccountReport;
}

/** @throws Failure INVALID_BODY, NOT_FOUND, CONNECTOR_NOT_ELIGIBLE, CONNECTOR_ERROR. */
export async function addAccount(
  deps: ConnectorAccountDeps,
  added: Owner & { readonly connector: string; readonly credentials: Credentials; readonly makeDefault: boolean },
): Promise<StoredAccount & { readonly webhookPath: string }> {
  const connector = deps.connectors.get(added.connector);
  const account = await readAccount(connector, added.environment, added.credentials);
  if (added.makeDefault && !mayTakeMoney(added.environment, account)) throw new Failure("CONNECTOR_NOT_ELIGIBLE");
  const stored = await storeAccount(deps, connector, added, account, added.makeDefault);
  return { connector: stored, account, webhookPath: `/processors/${connector.name}/${account.externalAccountId}` };
}

/** @returns undefined: the processor rejects the stored credentials. @throws Failure NOT_FOUND, CONNECTOR_ERROR. */
export async function checkAccount(
  deps: ConnectorAccountDeps,
  named: ConnectorKey,
): Promise<AccountReport | undefined> {
  const { connector, account } = await ownAccount(deps, named);
  const answer = await connector.readAccount(account.environment, account.credentials);
  return answer.kind === "declined" ? undefined : provenValue(answer);
}

/** @throws Failure INVALID_BODY, NOT_FOUND, CONNECTOR_ERROR. */
export async function rotateCredentials(
  deps: ConnectorAccountDeps,
  named: ConnectorKey & { readonly credentials: Credentials },
): Promise<StoredAccount> {
  const { connector, account: known } = await ownAccount(deps, named);
  const credentials = { ...known.credentials, ...named.credentials };
  const account = await readAccount(connector, named.environment, credentials);
  if (account.externalAccountId !== known.externalAccountId) {
    throw accountRefusal([
      { field: "credentials", problem: "belong to another account at the processor; add that account instead" },
    ]);
  }
  return { connector: await storeAccount(deps, connector, { ...named, credentials }, account, false), account };
}

/** @throws Failure NOT_FOUND. */
export async function deactivateAccount(
  deps: ConnectorAccountDeps,
  named: ConnectorKey,
): Promise<ConnectorMessage | undefined> {
  const { connector } = await deps.merchants.deactivateConnector(named);
  deps.accounts.forget();
  return connector;
}

/** @throws Failure NOT_FOUND, also for another merchant's account. */
export async function ownAccount(
  deps: ConnectorAccountDeps,
  named: ConnectorKey,
): Promise<{ connector: Connector; account: ProcessorAccount }> {
  const account = await deps.accounts.byId(named.connectorId);
  const isOwn = account.merchantId === named.merchantId && account.environment === named.environment;
  if (!isOwn) throw new Failure("NOT_FOUND");
  return { connector: deps.connectors.get(account.connector), account };
}

/** Phase 2. The form is checked first: a key of the other environment is never sent. */
async function readAccount(
  connector: Connector,
  environment: Environment,
  credentials: Credentials,
): Promise<AccountReport> {
  if (!connector.environments.includes(environment)) throw new Failure("CONNECTOR_NOT_ELIGIBLE");
  const problems = connector.judgeCredentials(environment, credentials);
  if (problems.length > 0)
    throw accountRefusal(problems.map(({ name, problem }) => ({ field: `credentials.${name}`, problem })));
  const answer = await connector.readAccount(environment, credentials);
  if (answer.kind === "declined") {
    const { name, problem } = answer.credential ?? { name: "secret_key", problem: "is rejected by the processor" };
    throw accountRefusal([{ field: `credentials.${name}`, problem }]);
  }
  return provenValue(answer);
}

/** Phase 3. */
async function storeAccount(
  deps: ConnectorAccountDeps,
  { name: connector, surfaces }: Connector,
  owner: Owner & { readonly credentials: Credentials },
  { externalAccountId }: AccountReport,
  makeDefault: boolean,
): Promise<ConnectorMessage | undefined> {
  const { merchantId, environment, credentials } = owner;
  const saved = await deps.merchants.saveConnectorAccount({
    merchantId,
    environment,
    connector,
    externalAccountId,
    credentials,
    surfaces: [...surfaces],
    makeDefault,
  });
  deps.accounts.forget();
  return saved.connector;
}

/** In test mode an account may take payments before the processor has verified its owner. */
function mayTakeMoney(environment: Environment, account: AccountReport): boolean {
  return environment !== Environment.LIVE || account.canCharge;
}

function accountRefusal(violations: readonly Violation[]): Failure {
  return new Failure("INVALID_BODY", { violations: [...violations] });
}
