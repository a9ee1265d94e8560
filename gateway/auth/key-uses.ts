// Reports uses of keys, and networks of live ones, to the merchant service in batches: last_used_at is at most 60 s
// late (docs/contract.md §7).
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { Log } from "#platform/telemetry/log.ts";
import { type Cidr, callerBytes, cidrText, maskOf } from "#platform/values/address-range.ts";
import { type ApiKeyService, Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Principal } from "../principal.ts";

// Less than half of what the contract allows: after one failed batch the next is still in time.
const everyMs = 25_000;
// Limit of one call.
const batchMax = 1_000;
// Uses kept while the service is unavailable; the oldest is dropped first.
const keptMax = 10_000;
// Limit of the service per key and batch.
const networksMax = 8;

interface Use {
  at: number;
  readonly networks: Set<string>;
}

export class KeyUses {
  readonly #service: Pick<Client<typeof ApiKeyService>, "recordKeyUse">;
  readonly #log: Log;
  readonly #uses = new Map<string, Use>();
  readonly #timer: NodeJS.Timeout;

  constructor(service: Pick<Client<typeof ApiKeyService>, "recordKeyUse">, log: Log) {
    this.#service = service;
    this.#log = log;
    this.#timer = setInterval(() => void this.flush(), everyMs);
    this.#timer.unref();
  }

  readonly record = ({ keyId, environment }: Pick<Principal, "keyId" | "environment">, address: string): void => {
    const network = environment === Environment.LIVE ? neighbourhoodOf(address) : undefined;
    this.#add(keyId, Date.now(), network === undefined ? [] : [network]);
  };

  #add(keyId: string, at: number, networks: Iterable<string>): void {
    const use = this.#uses.get(keyId) ?? { at, networks: new Set() };
    use.at = Math.max(use.at, at);
    for (const network of networks) if (use.networks.size < networksMax) use.networks.add(network);
    this.#uses.delete(keyId);
    this.#uses.set(keyId, use);
    for (const oldest of this.#uses.keys()) {
      if (this.#uses.size <= keptMax) break;
      this.#uses.delete(oldest);
    }
  }

  /** Sends all uses; a failed batch is kept for the next flush. */
  async flush(): Promise<void> {
    const uses = [...this.#uses];
    this.#uses.clear();
    for (let start = 0; start < uses.length; start += batchMax) {
      const batch = uses.slice(start, start + batchMax);
      try {
        await this.#service.recordKeyUse({
          uses: batch.map(([apiKeyId, { at, networks }]) => {
            return { apiKeyId, usedAt: timestampFromMs(at), networks: [...networks] };
          }),
        });
      } catch (error) {
        this.#log.warn({ err: error, keys: batch.length }, "key uses not recorded: will retry");
        for (const [keyId, { at, networks }] of batch) this.#add(keyId, at, networks);
      }
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}

/** Approximate location: the /24 of an IPv4 address or the /48 of an IPv6 address, or undefined. */
export function neighbourhoodOf(address: string): string | undefined {
  const bytes = callerBytes(address);
  return bytes && cidrText(networkAround(bytes, bytes.length === 4 ? 24 : 48));
}

export function networkAround(address: Uint8Array, bits: number): Cidr {
  return { bytes: address.map((byte, i) => byte & maskOf(i, bits)), bits };
}
