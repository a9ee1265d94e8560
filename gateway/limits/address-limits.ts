// Limits by address for look-ups that a caller without proof can cause: of a key, of a session's secret, of a page, of
// a processor's account. A token is taken before the look-up, so that a storm at once is bounded too, and given back
// when the look-up finds something: only failures use the limit up. So many honest callers behind one address do not
// shut each other out.
import type { FastifyReply, FastifyRequest } from "fastify";
import { errorAnswer } from "../failures.ts";
import type { GatewayConfig } from "../settings.ts";
import { addressBuckets, createLimit, type Limit, type RateLimits } from "./rate-limits.ts";

/** What is looked up. */
export type LookupKind = "key" | "secret" | "page" | "event";

type AddressConfig = Pick<
  GatewayConfig,
  Extract<keyof GatewayConfig, `RATE_LIMIT_REFUSED_${string}`> | "RATE_LIMIT_REPORTS_PER_MINUTE"
>;

const minuteMs = 60_000;
// Says that the caller has nothing of what it claims: a bad body or signature, a wrong key, an unknown id or secret.
const failedStatuses = new Set([400, 401, 404]);

export class AddressLimits {
  readonly #limits: Pick<RateLimits, "hold">;
  readonly #reports: Limit;
  readonly #elsewhere: Limit;
  readonly #rules: Readonly<Record<LookupKind, Limit>>;

  constructor(limits: Pick<RateLimits, "hold">, config: AddressConfig) {
    this.#limits = limits;
    this.#reports = createLimit(config.RATE_LIMIT_REPORTS_PER_MINUTE, minuteMs, 1);
    // The key is right, so a shop that has moved hears why for longer than somebody who guesses.
    this.#elsewhere = createLimit(10 * config.RATE_LIMIT_REFUSED_KEYS_PER_MINUTE, minuteMs, 1);
    this.#rules = {
      key: createLimit(config.RATE_LIMIT_REFUSED_KEYS_PER_MINUTE, minuteMs, 1),
      secret: createLimit(config.RATE_LIMIT_REFUSED_SECRETS_PER_MINUTE, minuteMs, 1),
      page: createLimit(config.RATE_LIMIT_REFUSED_PAGES_PER_MINUTE, minuteMs, 1),
      event: createLimit(config.RATE_LIMIT_REFUSED_EVENTS_PER_MINUTE, minuteMs, 1),
    };
  }

  /** Reports of browsers prove nothing: each takes a token. @throws ApiError rate_limited. */
  takeForReport(request: FastifyRequest, reply: FastifyReply): void {
    this.#limits.hold(addressBuckets("report", request.ip, this.#reports), reply).keep();
  }

  /** A key that may not come from this address. @throws ApiError rate_limited. */
  takeForElsewhere(request: FastifyRequest, reply: FastifyReply): void {
    this.#limits.hold(addressBuckets("key from elsewhere", request.ip, this.#elsewhere), reply).keep();
  }

  /**
   * Looks up, if the address may.
   * @param lookup throws when the caller's claim is wrong; what cannot be found out counts against nobody
   * @throws ApiError rate_limited, and what `lookup` throws.
   */
  async allow<T>(what: LookupKind, request: FastifyRequest, reply: FastifyReply, lookup: () => Promise<T>): Promise<T> {
    const held = this.#limits.hold(addressBuckets(`refused ${what}`, request.ip, this.#rules[what]), reply);
    try {
      const found = await lookup();
      held.giveBack();
      return found;
    } catch (error) {
      if (failedStatuses.has(errorAnswer(error).status)) held.keep();
      else held.giveBack();
      throw error;
    }
  }
}
