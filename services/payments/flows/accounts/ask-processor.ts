// A merchant's account with its credentials, cached, and the error for an answer without a value.
import { create } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { LRUCache } from "lru-cache";
import { Failure } from "#platform/values/failure.ts";
import {
  type ConnectorAccount,
  type ConnectorService,
  type GetConnectorAccountRequest,
  GetConnectorAccountRequestSchema,
} from "#proto/merchant/v1/merchant_pb.ts";
import { isKnown, type ProcessorAccount, type ProcessorAnswer } from "../../connectors/connector.ts";
import type { RoutingRule } from "../../rules/routing.ts";
import { RequestCoalescer } from "./request-coalescer.ts";

type Merchants = Client<typeof ConnectorService>;

export interface MerchantAccount extends ProcessorAccount {
  /** Any status other than `active` stops new payments. */
  readonly merchantStatus: string;
}

/** The accounts that may take a merchant's new sessions, and how to choose. */
export interface ActiveAccounts {
  /** The primary one, then its fallbacks. */
  readonly accounts: readonly [ProcessorAccount, ...ProcessorAccount[]];
  /** Further ones that rules or the session name. */
  readonly others: readonly ProcessorAccount[];
  readonly rules: readonly RoutingRule[];
  readonly onOutage: "next" | "stop";
  /** Failure codes after which a session gets one intent at the next account. */
  readonly declineCodes: readonly string[];
}

// Changes are announced and `forget` clears the cache; this bounds the effect of a lost announcement.
const cacheMs = 2_000;
const cacheMax = 10_000;

const newCache = () => new LRUCache<string, readonly MerchantAccount[]>({ max: cacheMax, ttl: cacheMs });

export class Accounts {
  readonly #merchants: Merchants;
  #cached = newCache();
  readonly #used = new Set<string>();
  readonly #active = new RequestCoalescer<ActiveAccounts>();

  constructor(merchants: Merchants) {
    this.#merchants = merchants;
  }

  /**
   * The accounts for a new session. Not cached, since a merchant who has just changed them expects the next session
   * there; concurrent sessions share one request.
   * @param connectorId of an account that the session names; may be empty
   * @throws Failure NO_CONNECTOR, FORBIDDEN, NOT_FOUND.
   */
  active(
    merchantId: string,
    environment: ProcessorAccount["environment"],
    connectorId: string,
  ): Promise<ActiveAccounts> {
    return this.#active.ask(`${merchantId}/${environment}/${connectorId}`, async () => {
      const answer = await this.#merchants.getActiveConnectorAccount({ merchantId, environment, connectorId });
      const { account, fallbacks, routing } = answer;
      const active: ActiveAccounts = {
        accounts: [accountOf(account), ...fallbacks.map(accountOf)],
        others: answer.others.map(accountOf),
        rules: routing?.rules ?? [],
        // The previous release sends fallbacks where they are allowed.
        declineCodes: routing?.declineCodes ?? [],
        onOutage: routing?.onOutage === "stop" ? "stop" : "next",
      };
      for (const { id } of [...active.accounts, ...active.others]) this.#used.add(id);
      return active;
    });
  }

  /** The accounts of new payments since the last call. */
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

  /** The accounts under the processor's id: one, or one of each environment. @throws Failure NOT_FOUND. */
  async byExternalId(connector: string, externalAccountId: string): Promise<readonly ProcessorAccount[]> {
    const value = { connector, externalAccountId };
    return this.#through(`${connector}/${externalAccountId}`, { by: { case: "external", value } });
  }

  /** Clears the cache after a merchant has, or may have, changed. */
  forget(): void {
    // A request in flight fills the old cache.
    this.#cached = newCache();
  }

  async #through(
    key: string,
    request: Parameters<typeof create<typeof GetConnectorAccountRequestSchema>>[1],
  ): Promise<readonly MerchantAccount[]> {
    const cached = this.#cached;
    const known = cached.get(key);
    if (known) return known;
    const message: GetConnectorAccountRequest = create(GetConnectorAccountRequestSchema, request);
    const { account, otherEnvironment } = await this.#merchants.getConnectorAccount(message);
    const accounts = [accountOf(account), ...(otherEnvironment ? [accountOf(otherEnvironment)] : [])];
    cached.set(key, accounts);
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
    merchantCountry: account.merchantCountry,
    merchantStatus: account.merchantStatus,
    methods: connector.paymentMethods.length > 0 ? connector.paymentMethods : ["card"],
  };
}

/** The value of an answer. @throws Failure CONNECTOR_ERROR with the cause for the logs. */
export function provenValue<T>(answer: ProcessorAnswer<T>): T {
  if (isKnown(answer)) return answer.value;
  throw new Failure("CONNECTOR_ERROR", {
    cause: answer.kind === "declined" ? new Error(answer.message) : answer.cause,
  });
}
