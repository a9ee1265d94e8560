// Whom an API key stands for. Answers of the merchant service are kept for a short time, so that authentication costs
// no call in the steady state; an event of the key or its merchant drops them within milliseconds. While it is not sure
// that events are heard each key is asked about every second (docs/contract.md §7).
import { createHash } from "node:crypto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { LRUCache } from "lru-cache";
import { type Cidr, callerBytes, contains, parseCidr } from "#platform/values/address-range.ts";
import { Failure } from "#platform/values/failure.ts";
import type { ApiKeyService, AuthenticateKeyResponse, Environment } from "#proto/merchant/v1/merchant_pb.ts";

/** A caller with a valid API key. */
export interface Principal {
  readonly keyId: string;
  readonly merchantId: string;
  readonly merchantStatus: string;
  readonly environment: Environment;
  readonly scopes: ReadonlySet<string>;
  /** Where the key may be used from; none: everywhere. */
  readonly allowedIps: readonly Cidr[];
}

/** True when the key may be used from the address; from what is no address only if it may be used from everywhere. */
export function mayComeFrom({ allowedIps }: Pick<Principal, "allowedIps">, address: string): boolean {
  if (allowedIps.length === 0) return true;
  const bytes = callerBytes(address);
  return bytes !== undefined && allowedIps.some((range) => contains(range, bytes));
}

type Guard = (ask: () => Promise<Principal | undefined>) => Promise<Principal | undefined>;

interface Entry {
  /** Undefined: the key is not valid. */
  readonly principal: Principal | undefined;
  /** When it was asked for; monotonic milliseconds. */
  readonly since: number;
  /** Milliseconds since the epoch; a key may expire before its entry does. */
  readonly until: number;
}

// Bounds how long a lost event can keep a revoked key alive.
const keepMs = 10_000;
// While events may be missed, an entry lives no longer than a revoked key may work.
const keepDeafMs = 1_000;
// A key that did not exist may be created a moment later by someone who knows it already; long enough against a loop of
// junk.
const keepUnknownMs = 5_000;
// About 4 MB; one entry is about 400 bytes.
const entriesMax = 10_000;
const unknownMax = 1_000;

const keyFormat = /^sk_(?:test|live)_[0-9A-Za-z]{46}$/;

export class Principals {
  readonly #service: Pick<Client<typeof ApiKeyService>, "authenticateKey">;
  readonly #hearing: () => boolean;
  readonly #known = new LRUCache<string, Entry>({ max: entriesMax });
  readonly #unknown = new LRUCache<string, Entry>({ max: unknownMax });
  readonly #pending = new Map<string, Promise<Principal | undefined>>();
  #generation = 0;

  /** @param hearing false while events may be missed or late. */
  constructor(service: Pick<Client<typeof ApiKeyService>, "authenticateKey">, hearing: () => boolean) {
    this.#service = service;
    this.#hearing = hearing;
  }

  /**
   * @param guard stands before everything about a key that nobody has shown to be good
   * @returns undefined for anything but an active key. @throws Failure when it cannot be found out.
   */
  async of(apiKey: string, guard: Guard = (ask) => ask()): Promise<Principal | undefined> {
    if (!keyFormat.test(apiKey)) return undefined;
    // Raw keys are not kept in memory, so that a heap dump does not hold them.
    const digest = createHash("sha256").update(apiKey).digest("base64");
    const known = this.#known.get(digest);
    if (known && this.#holds(known)) return known.principal;
    // Whoever waits for a look-up that is under way causes none: a burst of a good key is one guess, not many.
    const pending = this.#pending.get(digest);
    if (pending !== undefined) return await pending;
    const ask = async () => await (this.#pending.get(digest) ?? this.#ask(apiKey, digest));
    // A key that was good a moment ago is asked for again; its owner is not taken for one who guesses.
    if (known) return await ask();
    const unknown = this.#unknown.get(digest);
    return await guard(async () => (unknown && this.#holds(unknown) ? undefined : await ask()));
  }

  /** Forgets a key. */
  dropKey(keyId: string): void {
    this.#drop((principal) => principal.keyId === keyId);
  }

  /** Forgets every key of a merchant. */
  dropMerchant(merchantId: string): void {
    this.#drop((principal) => principal.merchantId === merchantId);
  }

  /** Forgets everything. */
  clear(): void {
    this.#generation += 1;
    this.#pending.clear();
    this.#known.clear();
    this.#unknown.clear();
  }

  #holds(entry: Entry): boolean {
    return entry.until > Date.now() && (this.#hearing() || performance.now() - entry.since < keepDeafMs);
  }

  #drop(matches: (principal: Principal) => boolean): void {
    this.#generation += 1;
    // Answers under way may be older than the event: the next request asks again.
    this.#pending.clear();
    for (const [digest, entry] of this.#known) {
      if (entry.principal && matches(entry.principal)) this.#known.delete(digest);
    }
  }

  /** Requests with the same key that arrive while it is looked up share the one call. */
  #ask(apiKey: string, digest: string): Promise<Principal | undefined> {
    const generation = this.#generation;
    const pending = this.#fetchPrincipal(apiKey, digest, generation).finally(() => {
      if (this.#pending.get(digest) === pending) this.#pending.delete(digest);
    });
    this.#pending.set(digest, pending);
    return pending;
  }

  async #fetchPrincipal(apiKey: string, digest: string, generation: number): Promise<Principal | undefined> {
    const since = performance.now();
    try {
      const answer = await this.#service.authenticateKey({ apiKey });
      const principal = principalOf(answer);
      const expiresAt = answer.apiKey?.expiresAt ? timestampMs(answer.apiKey.expiresAt) : Number.POSITIVE_INFINITY;
      const until = Math.min(Date.now() + keepMs, expiresAt);
      if (generation === this.#generation) this.#known.set(digest, { principal, since, until });
      return principal;
    } catch (error) {
      if (!(error instanceof Failure) || error.reason !== "UNAUTHORIZED") throw error;
      this.#known.delete(digest);
      this.#unknown.set(digest, { principal: undefined, since, until: Date.now() + keepUnknownMs });
      return undefined;
    }
  }
}

function principalOf(answer: AuthenticateKeyResponse): Principal {
  if (!answer.apiKey) throw new Error("the answer names no key");
  return {
    keyId: answer.apiKey.id,
    merchantId: answer.merchantId,
    merchantStatus: answer.merchantStatus,
    environment: answer.apiKey.environment,
    scopes: new Set(answer.apiKey.scopes),
    allowedIps: answer.apiKey.allowedIps.map(parseCidr),
  };
}
