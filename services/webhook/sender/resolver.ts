// Resolves host names by DNS only: no hosts file, no search domains, no thread pool that a slow zone could exhaust.
// It caches answers for their bounded TTL and shares concurrent queries.
import { Resolver as DnsResolver } from "node:dns/promises";
import { LRUCache } from "lru-cache";

/** Looks up the addresses of a name, IPv4 first. @throws ResolveError */
export type Lookup = (host: string) => Promise<ResolvedHost>;

/** For tests. */
export interface ResolverOptions {
  readonly lookup?: Lookup;
  readonly ttlSecondsMin?: number;
}

interface ResolvedHost {
  readonly addresses: readonly string[];
  readonly ttlSeconds: number;
}

export class ResolveError extends Error {
  override name = "ResolveError";
  readonly code: "dns_not_found" | "dns_timeout" | "dns_failed";
  constructor(code: ResolveError["code"], cause?: unknown) {
    super(code, { cause });
    this.code = code;
  }
}

const queryMs = 2_000;
const queriesMax = 2;
// The minimum protects us from a hostile zone with a query per delivery; the maximum lets zone changes take effect
// soon. Failures are kept for the minimum.
const ttlSecondsMin = 5;
const ttlSecondsMax = 60;
const answersMax = 10_000;

export class Resolver {
  readonly #lookup: Lookup;
  readonly #ttlSecondsMin: number;
  readonly #answers = new LRUCache<string, Promise<ResolvedHost>>({ max: answersMax });

  constructor(options: ResolverOptions = {}) {
    this.#lookup = options.lookup ?? lookupByDns();
    this.#ttlSecondsMin = options.ttlSecondsMin ?? ttlSecondsMin;
  }

  /** The addresses of the name, at least one. @throws ResolveError */
  async resolve(host: string): Promise<readonly string[]> {
    const known = this.#answers.get(host);
    if (known) return (await known).addresses;
    const answer = this.#lookup(host);
    const keep = (seconds: number) => this.#answers.set(host, answer, { ttl: seconds * 1_000 });
    this.#answers.set(host, answer);
    try {
      const resolved = await answer;
      keep(Math.min(Math.max(resolved.ttlSeconds, this.#ttlSecondsMin), ttlSecondsMax));
      return resolved.addresses;
    } catch (error) {
      keep(this.#ttlSecondsMin);
      throw error;
    }
  }
}

/** `localhost` and its subdomains always mean this machine and are in no zone (RFC 6761 §6.3). */
export function isLocalhost(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

function lookupByDns(): Lookup {
  const dns = new DnsResolver({ timeout: queryMs, tries: queriesMax });
  return async (host) => {
    if (isLocalhost(host)) return { addresses: ["127.0.0.1", "::1"], ttlSeconds: ttlSecondsMax };
    const [four, six] = await Promise.allSettled([
      dns.resolve4(host, { ttl: true }),
      dns.resolve6(host, { ttl: true }),
    ]);
    const records = [four, six].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (records.length > 0) {
      return {
        addresses: records.map((record) => record.address),
        ttlSeconds: Math.min(...records.map((record) => record.ttl)),
      };
    }
    throw resolveError(four.status === "rejected" ? four.reason : undefined);
  };
}

function resolveError(reason: unknown): ResolveError {
  const code = reason instanceof Error && "code" in reason ? reason.code : undefined;
  if (code === "ENOTFOUND" || code === "ENODATA" || code === undefined)
    return new ResolveError("dns_not_found", reason);
  if (code === "ETIMEOUT" || code === "ECANCELLED") return new ResolveError("dns_timeout", reason);
  return new ResolveError("dns_failed", reason);
}
