// Implements docs/contract.md §10 with token buckets in memory; rate-share.ts publishes taken tokens to other replicas.
// Only an empty bucket refuses a request: limits never fail closed.
import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { LRUCache } from "lru-cache";
import { networkOf, siteOf } from "#platform/values/address-range.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { ApiError } from "../failures.ts";
import type { Principal } from "../principal.ts";
import type { GatewayConfig } from "../settings.ts";

interface BucketRule {
  readonly perMs: number;
  readonly burst: number;
}

export interface Limit extends BucketRule {
  /** The limit that callers see in RateLimit-Limit. */
  readonly tokens: number;
}

interface KeyLimits {
  readonly ofKey: Limit;
  readonly ofMerchant: Limit;
}

interface NamedBucket {
  readonly name: string;
  readonly rule: Limit;
}

/** Tokens on hold. Exactly one of the two is called, once. */
interface HeldTokens {
  keep(): void;
  release(): void;
}

interface Bucket {
  tokens: number;
  /** Monotonic milliseconds. */
  filledAt: number;
}

// A key's burst is twice its rate (docs/contract.md §10); other limits may be used up at once.
const keyBurst = 2;
// IPv6 also counts the /48 of each /64: usually one customer, but sometimes thousands in a mobile network.
const siteFactor = 10;
// About 20 MB. The least recently used bucket is evicted first: it is the fullest, so least is lost.
const bucketsMax = 100_000;
// Callers choose these names freely, so these buckets must not evict others.
const ofSecret = /^(?:resolve|confirm) cs_/;
const secretBucketsMax = 20_000;

type LimitConfig = Pick<GatewayConfig, Extract<keyof GatewayConfig, `RATE_LIMIT${string}`>>;

export class RateLimits {
  readonly #buckets = new LRUCache<string, Bucket>({ max: bucketsMax });
  readonly #secretBuckets = new LRUCache<string, Bucket>({ max: secretBucketsMax });
  readonly #on: boolean;
  readonly #live: KeyLimits;
  readonly #sandbox: KeyLimits;
  readonly #resolve: Limit;
  readonly #confirm: Limit;
  readonly #confirmAddress: Limit;
  readonly #onboarding: Limit;
  readonly #applicant: Limit;
  /** Called for every token taken, to publish it to the other replicas. */
  onTake: (bucket: string, rule: BucketRule) => void = () => {};

  constructor(config: LimitConfig) {
    this.#on = config.RATE_LIMIT === "on";
    this.#live = keyLimits(config.RATE_LIMIT_LIVE_PER_SECOND, config.RATE_LIMIT_KEYS_PER_MERCHANT);
    this.#sandbox = keyLimits(config.RATE_LIMIT_SANDBOX_PER_SECOND, config.RATE_LIMIT_KEYS_PER_MERCHANT);
    this.#resolve = createLimit(config.RATE_LIMIT_RESOLVE_PER_MINUTE, 60_000, 1);
    this.#confirm = createLimit(config.RATE_LIMIT_CONFIRM_PER_MINUTE, 60_000, 1);
    this.#confirmAddress = createLimit(config.RATE_LIMIT_CONFIRM_ADDRESS_PER_MINUTE, 60_000, 1);
    this.#onboarding = createLimit(config.RATE_LIMIT_ONBOARDING_PER_HOUR, 3_600_000, 1);
    this.#applicant = createLimit(config.RATE_LIMIT_APPLICANT_PER_HOUR, 3_600_000, 1);
  }

  /**
   * Takes from the key first: a key beyond its own limit takes nothing from the merchant's other keys.
   * @throws ApiError rate_limited.
   */
  takeForKey({ keyId, merchantId, environment }: Principal, reply: FastifyReply): void {
    const limits = environment === Environment.LIVE ? this.#live : this.#sandbox;
    this.#take(`key ${keyId}`, limits.ofKey, reply);
    this.#take(`merchant ${merchantId} ${environment}`, limits.ofMerchant, reply);
  }

  /** Counts session and secret together: a caller without the secret cannot use up the buyer's limit. */
  takeForResolve(sessionId: string, secret: string, reply: FastifyReply): void {
    this.#take(`resolve ${sessionId} ${digest(secret)}`, this.#resolve, reply);
  }

  takeForConfirm(sessionId: string, secret: string, address: string, reply: FastifyReply): void {
    this.#takeForAddress("confirm", address, this.#confirmAddress, reply);
    this.#take(`confirm ${sessionId} ${digest(secret)}`, this.#confirm, reply);
  }

  /** Each opening of a payment link asks the processor, as a confirm does. */
  takeForLink(address: string, reply: FastifyReply): void {
    this.#takeForAddress("link", address, this.#confirmAddress, reply);
  }

  takeForOnboarding(address: string, reply: FastifyReply): void {
    this.#takeForAddress("onboarding", address, this.#onboarding, reply);
  }

  /** Separate from new applications: an applicant at that limit can still submit an existing one. */
  takeForApplicant(address: string, reply: FastifyReply): void {
    this.#takeForAddress("applicant", address, this.#applicant, reply);
  }

  /**
   * Holds a token of each bucket until the caller's claim is checked. Only kept ones are published.
   * @throws ApiError rate_limited.
   */
  hold(buckets: readonly NamedBucket[], reply: FastifyReply): HeldTokens {
    if (!this.#on) return { keep: () => {}, release: () => {} };
    for (const { name, rule } of buckets) {
      const bucket = this.#bucket(name, rule);
      if (bucket.tokens < 1) throw refusal(bucket, rule, reply);
    }
    for (const { name, rule } of buckets) this.#bucket(name, rule).tokens -= 1;
    return {
      keep: () => {
        for (const { name, rule } of buckets) this.onTake(name, rule);
      },
      release: () => {
        for (const { name, rule } of buckets) this.#bucket(name, rule).tokens += 1;
      },
    };
  }

  /** Subtracts tokens that other replicas took. */
  subtract(name: string, tokens: number, rule: BucketRule): void {
    if (!this.#on) return;
    const bucket = this.#bucket(name, rule);
    // The debt is at most one burst, which bounds the time to pay it back.
    bucket.tokens = Math.max(-rule.burst, bucket.tokens - tokens);
  }

  #takeForAddress(what: string, address: string, rule: Limit, reply: FastifyReply): void {
    if (!this.#on) return;
    const buckets = addressBuckets(what, address, rule);
    this.hold(buckets, reply).keep();
    for (const { name, rule } of buckets) writeLimitHeaders(this.#bucket(name, rule), rule, reply);
  }

  #take(name: string, rule: Limit, reply: FastifyReply): void {
    if (!this.#on) return;
    const bucket = this.#bucket(name, rule);
    const allowed = bucket.tokens >= 1;
    if (allowed) {
      bucket.tokens -= 1;
      this.onTake(name, rule);
    }
    if (!allowed) throw refusal(bucket, rule, reply);
    writeLimitHeaders(bucket, rule, reply);
  }

  #bucket(name: string, rule: BucketRule): Bucket {
    const now = performance.now();
    const buckets = ofSecret.test(name) ? this.#secretBuckets : this.#buckets;
    const bucket = buckets.get(name) ?? { tokens: rule.burst, filledAt: now };
    const filled = bucket.tokens + (now - bucket.filledAt) * rule.perMs;
    // Other replicas may have used another rule: the debt is at most a burst of this replica's rule.
    bucket.tokens = Math.max(-rule.burst, Math.min(rule.burst, filled));
    bucket.filledAt = now;
    buckets.set(name, bucket);
    return bucket;
  }
}

function keyLimits(perSecond: number, keysPerMerchant: number): KeyLimits {
  return {
    ofKey: createLimit(perSecond, 1_000, keyBurst),
    ofMerchant: createLimit(perSecond * keysPerMerchant, 1_000, keyBurst),
  };
}

function writeLimitHeaders(bucket: Bucket, rule: Limit, reply: FastifyReply): void {
  const remaining = Math.max(0, Math.floor(bucket.tokens));
  // Of several limits, the headers show the one with the fewest tokens left.
  if (remaining > Number(reply.getHeader("ratelimit-remaining") ?? remaining)) return;
  reply.header("ratelimit-limit", String(rule.tokens));
  reply.header("ratelimit-remaining", String(remaining));
  reply.header("ratelimit-reset", String(Math.ceil((rule.burst - bucket.tokens) / rule.perMs / 1_000)));
}

function refusal(bucket: Bucket, rule: Limit, reply: FastifyReply): ApiError {
  writeLimitHeaders(bucket, rule, reply);
  const waitSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / rule.perMs / 1_000));
  return new ApiError("rate_limited", { headers: { "retry-after": String(waitSeconds) } });
}

/**
 * Buckets of an address: its network's and, for IPv6, first that of the site around it.
 */
export function addressBuckets(what: string, address: string, rule: Limit): readonly NamedBucket[] {
  const [network, site] = [networkOf(address), siteOf(address)];
  const own = { name: `${what} ${network}`, rule };
  if (site === network) return [own];
  const wide = { tokens: rule.tokens * siteFactor, perMs: rule.perMs * siteFactor, burst: rule.burst * siteFactor };
  return [{ name: `${what} ${site}/48`, rule: wide }, own];
}

export function createLimit(tokens: number, periodMs: number, burstFactor: number): Limit {
  return { tokens, perMs: tokens / periodMs, burst: tokens * burstFactor };
}

function digest(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url").slice(0, 16);
}
