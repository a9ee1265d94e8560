// Limits failed lookups per address: of a key, a session's secret, a page or a processor's account. A token is taken
// before the lookup, which bounds bursts, and released on success: honest callers behind one address do not block
// each other.
import type { FastifyReply, FastifyRequest } from "fastify";
import { errorAnswer } from "../failures.ts";
import type { GatewayConfig } from "../settings.ts";
import { addressBuckets, createLimit, type Limit, type RateLimits } from "./rate-limits.ts";

type LookupKind = "key" | "secret" | "page" | "event";

type AddressConfig = Pick<
  GatewayConfig,
  Extract<keyof GatewayConfig, `RATE_LIMIT_REFUSED_${string}`> | "RATE_LIMIT_REPORTS_PER_MINUTE"
>;

const minuteMs = 60_000;
// The claim was wrong: a bad body or signature, a wrong key, an unknown id or secret.
const failedStatuses = new Set([400, 401, 404]);

export class AddressLimits {
  readonly #limits: Pick<RateLimits, "hold">;
  readonly #reports: Limit;
  readonly #disallowed: Limit;
  readonly #rules: Readonly<Record<LookupKind, Limit>>;

  constructor(limits: Pick<RateLimits, "hold">, config: AddressConfig) {
    this.#limits = limits;
    this.#reports = createLimit(config.RATE_LIMIT_REPORTS_PER_MINUTE, minuteMs, 1);
    // The key is valid: a shop behind a new address gets the explanation for longer than a caller that guesses.
    this.#disallowed = createLimit(10 * config.RATE_LIMIT_REFUSED_KEYS_PER_MINUTE, minuteMs, 1);
    this.#rules = {
      key: createLimit(config.RATE_LIMIT_REFUSED_KEYS_PER_MINUTE, minuteMs, 1),
      secret: createLimit(config.RATE_LIMIT_REFUSED_SECRETS_PER_MINUTE, minuteMs, 1),
      page: createLimit(config.RATE_LIMIT_REFUSED_PAGES_PER_MINUTE, minuteMs, 1),
      event: createLimit(config.RATE_LIMIT_REFUSED_EVENTS_PER_MINUTE, minuteMs, 1),
    };
  }

  /** Browsers' reports prove nothing: each takes a token. @throws ApiError rate_limited. */
  takeForReport(request: FastifyRequest, reply: FastifyReply): void {
    this.#limits.hold(addressBuckets("report", request.ip, this.#reports), reply).keep();
  }

  /** For a key that may not be used from this address. @throws ApiError rate_limited. */
  takeForDisallowed(request: FastifyRequest, reply: FastifyReply): void {
    this.#limits.hold(addressBuckets("key from elsewhere", request.ip, this.#disallowed), reply).keep();
  }

  /**
   * Runs the lookup if the address is within its limit.
   * @param lookup throws if the caller's claim is wrong; other faults do not count against the address
   * @throws ApiError rate_limited, and errors of `lookup`.
   */
  async allow<T>(
    what: LookupKind,
    request: Pick<FastifyRequest, "ip">,
    reply: FastifyReply,
    lookup: () => Promise<T>,
  ): Promise<T> {
    const held = this.#limits.hold(addressBuckets(`refused ${what}`, request.ip, this.#rules[what]), reply);
    try {
      const found = await lookup();
      held.release();
      return found;
    } catch (error) {
      if (failedStatuses.has(errorAnswer(error).status)) held.keep();
      else held.release();
      throw error;
    }
  }
}
