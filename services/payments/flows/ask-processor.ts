// What every flow that talks to a processor needs: the merchant's account with its credentials, and what an answer that brings
// no facts means for the caller.
import { create } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { Failure } from "#platform/failure.ts";
import {
  type ConnectorAccount,
  type ConnectorService,
  type GetConnectorAccountRequest,
  GetConnectorAccountRequestSchema,
} from "#proto/merchant/v1/merchant_pb.ts";
import { type Account, type Answer, isTold } from "../connectors/connector.ts";
import { SharedQuestion } from "./shared-question.ts";

type Merchants = Client<typeof ConnectorService>;

/** An account and what flows ask of its merchant. */
export interface MerchantAccount extends Account {
  /** `active`, or the merchant takes no new money. */
  readonly merchantStatus: string;
}

// The merchant service announces changes and `forget` drops them at once; this bounds what a lost announcement can cost.
const cacheMs = 2_000;
const cacheMax = 10_000;

/** Connector accounts from the merchant service, cached for two seconds at most. */
export class Accounts {
  readonly #merchants: Merchants;
  readonly #cached = new Map<string, { accounts: readonly MerchantAccount[]; until: number }>();
  readonly #used = new Set<string>();
  readonly #active = new SharedQuestion<readonly [Account, ...Account[]]>();

  constructor(merchants: Merchants) {
    this.#merchants = merchants;
  }

  /**
   * The account that a new session uses, and after it those that may stand in when nothing can be sent to it. Asked anew each time,
   * since a merchant who has just changed it expects the next session there; sessions that come at once share a question.
   * @throws Failure NO_CONNECTOR, FORBIDDEN, NOT_FOUND.
   */
  active(merchantId: string, environment: Account["environment"]): Promise<readonly [Account, ...Account[]]> {
    return this.#active.ask(`${merchantId}/${environment}`, async () => {
      const { account, standIns } = await this.#merchants.getActiveConnectorAccount({ merchantId, environment });
      const accounts: readonly [Account, ...Account[]] = [accountOf(account), ...standIns.map(accountOf)];
      for (const { id } of accounts) this.#used.add(id);
      return accounts;
    });
  }

  /** The accounts that new payments went to since the last call. */
  takeUsed(): readonly string[] {
    const used = [...this.#used];
    this.#used.clear();
    return used;
  }

  /** One account by our id, also an inactive one. @throws Failure NOT_FOUND. */
  async byId(connectorId: string): Promise<MerchantAccount> {
    const [account] = await this.#through(connectorId, { by: { case: "connectorId", value: connectorId } });
    if (!account) throw new Error("the merchant service answered no connector account");
    return account;
  }

  /** The accounts under the processor's words: one, or one of each environment. @throws Failure NOT_FOUND. */
  async byExternalId(connector: string, externalAccountId: string): Promise<readonly Account[]> {
    const value = { connector, externalAccountId };
    return this.#through(`${connector}/${externalAccountId}`, { by: { case: "external", value } });
  }

  /** Drops what is cached: something of a merchant has changed, or may have. */
  forget(): void {
    this.#cached.clear();
  }

  async #through(
    key: string,
    request: Parameters<typeof create<typeof GetConnectorAccountRequestSchema>>[1],
  ): Promise<readonly MerchantAccount[]> {
    const known = this.#cached.get(key);
    if (known && known.until > performance.now()) return known.accounts;
    const asked: GetConnectorAccountRequest = create(GetConnectorAccountRequestSchema, request);
    const { account, otherEnvironment } = await this.#merchants.getConnectorAccount(asked);
    const accounts = [accountOf(account), ...(otherEnvironment ? [accountOf(otherEnvironment)] : [])];
    if (this.#cached.size >= cacheMax) this.#cached.clear();
    this.#cached.set(key, { accounts, until: performance.now() + cacheMs });
    return accounts;
  }
}

function accountOf(account: ConnectorAccount | undefined): MerchantAccount {
  const connector = account?.connector;
  if (!account || !connector) throw new Error("the merchant service answered no connector account");
  return {
    id: connector.id,
    merchantId: connector.merchantId,
    environment: connector.environment,
    connector: connector.connector,
    externalAccountId: connector.externalAccountId,
    surface: connector.surface,
    credentials: account.credentials,
    refundsEnabled: account.refundsEnabled,
    merchantStatus: account.merchantStatus,
  };
}

/** The value of an answer that brings one, or CONNECTOR_ERROR with the cause kept for the logs. */
export function provenValue<T>(answer: Answer<T>): T {
  if (isTold(answer)) return answer.value;
  throw new Failure("CONNECTOR_ERROR", {
    cause: answer.kind === "declined" ? new Error(answer.message) : answer.cause,
  });
}
