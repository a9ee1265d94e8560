// Resolves an API key to its merchant. Results are cached, and an event of the key or merchant drops them at once.
// While events may be missed, each key is checked every second (docs/contract.md §7).
import { createHash } from "node:crypto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { LRUCache } from "lru-cache";
import { type Cidr, callerBytes, parseCidr, rangeContains } from "#platform/values/address-range.ts";
import { Failure } from "#platform/values/failure.ts";
import type { ApiKeyService, AuthenticateKeyResponse, Environment } from "#proto/merchant/v1/merchant_pb.ts";

/** A caller with a valid API key. */
export interface Principal {
  readonly keyId: string;
  readonly merchantId: string;
  readonly merchantStatus: string;
  readonly environment: Environment;
  readonly scopes: ReadonlySet<string>;
  /** Empty: any address. */
  readonly allowedIps: readonly Cidr[];
}

/** True if the key may be used from the address. An unreadable address needs an unrestricted key. */
export function mayComeFrom({ allowedIps }: Pick<Principal, "allowedIps">, address: string): boolean {
  if (allowedIps.length === 0) return true;
  const bytes = callerBytes(address);
  return bytes !== undefined && allowedIps.some((range) => rangeContains(range, bytes));
}

type Guard = (ask: () => Promise<Principal | undefined>) => Promise<Principal | undefined>;

interface Entry {
  /** Undefined: the key is not valid. */
  readonly principal: Principal | undefined;
  /** When the lookup began; monotonic milliseconds. */
  readonly since: number;
  /** Milliseconds since the epoch; not after the key's own expiry. */
  readonly until: number;
}

// Bounds how long a lost event can keep a revoked key alive.
const keepMs = 10_000;
// While events may be missed, an entry lives no longer than a revoked key may still work.
const keepWithoutEventsMs = 1_000;
// Long enough against a loop of junk keys; short, since an unknown key may be created a moment later.
const keepUnknownMs = 5_000;
// About 4 MB; one entry is about 400 bytes.
const entriesMax = 10_000;
const unknownMax = 1_000;

const keyFormat = /^sk_(?:test|live)_[0-9A-Za-z]{46}$/;

export class Principals {
  readonly #service: Pick<Client<typeof ApiKeyService>, "authenticateKey">;
  readonly #receivesEvents: () => boolean;
  readonly #known = new LRUCache<string, Entry>({ max: entriesMax });
  readonly #unknown = new LRUCache<string, Entry>({ max: unknownMax });
  readonly #pending = new Map<string, Promise<Principal | undefined>>();
  #generation = 0;

  /** @param receivesEvents false while events may be missed or late. */
  constructor(service: Pick<Client<typeof ApiKeyService>, "authenticateKey">, receivesEvents: () => boolean) {
    this.#service = service;
    this.#receivesEvents = receivesEvents;
  }

  /**
   * @param guard runs around a key that is not yet known to be valid
   * @returns undefined for anything but an active key. @throws Failure if the lookup fails.
   */
  async of(apiKey: string, guard: Guard = (ask) => ask()): Promise<Principal | undefined> {
    if (!keyFormat.test(apiKey)) return undefined;
    // Only digests are kept: a heap dump must not contain raw keys.
    const digest = createHash("sha256").update(apiKey).digest("base64");
    const known = this.#known.get(digest);
    if (known && this.#isFresh(known)) return known.principal;
    // A pending lookup is shared: the guard counts a burst with a good key as one guess.
    const pending = this.#pending.get(digest);
    if (pending !== undefined) return await pending;
    const ask = async () => await (this.#pending.get(digest) ?? this.#ask(apiKey, digest));
    // A key that was valid a moment ago is checked without the guard: its owner is not guessing.
    if (known) return await ask();
    const unknown = this.#unknown.get(digest);
    return await guard(async () => (unknown && this.#isFresh(unknown) ? undefined : await ask()));
  }

  dropKey(keyId: string): void {
    this.#drop((principal) => principal.keyId === keyId);
  }

  dropMerchant(merchantId: string): void {
    this.#drop((principal) => principal.merchantId === merchantId);
  }

  clear(): void {
    this.#generation += 1;
    this.#pending.clear();
    this.#known.clear();
    this.#unknown.clear();
  }

  #isFresh(entry: Entry): boolean {
    if (entry.until <= Date.now()) return false;
    return this.#receivesEvents() || performance.now() - entry.since < keepWithoutEventsMs;
  }

  #drop(matches: (principal: Principal) => boolean): void {
    this.#generation += 1;
    // A pending lookup may be older than the event, so the next request starts a new one.
    this.#pending.clear();
    for (const [digest, entry] of this.#known) {
      if (entry.principal && matches(entry.principal)) this.#known.delete(digest);
    }
  }

  /** Concurrent requests with one key share a call. */
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
  if (!answer.apiKey) throw new Error("the response has no key");
  return {
    keyId: answer.apiKey.id,
    merchantId: answer.merchantId,
    merchantStatus: answer.merchantStatus,
    environment: answer.apiKey.environment,
    scopes: new Set(answer.apiKey.scopes),
    allowedIps: answer.apiKey.allowedIps.map(parseCidr),
  };
}
