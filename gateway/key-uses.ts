// When keys were last used, told to the merchant service in batches: last_used_at is at most 60 s late (CONTRACT.md §7) and costs
// a request nothing.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { Log } from "#platform/log.ts";
import type { ApiKeyService } from "#proto/merchant/v1/merchant_pb.ts";

// Half of what the contract allows: one failed batch is still in time with the next.
const everyMs = 25_000;
// What one call may carry.
const batchMax = 1_000;
// Uses kept while the service is away; the oldest key's goes first.
const keptMax = 10_000;

export class KeyUses {
  readonly #service: Pick<Client<typeof ApiKeyService>, "recordKeyUse">;
  readonly #log: Log;
  readonly #uses = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(service: Pick<Client<typeof ApiKeyService>, "recordKeyUse">, log: Log) {
    this.#service = service;
    this.#log = log;
    this.#timer = setInterval(() => void this.flush(), everyMs);
    this.#timer.unref();
  }

  readonly used = (keyId: string): void => {
    this.#uses.delete(keyId);
    this.#uses.set(keyId, Date.now());
    for (const oldest of this.#uses.keys()) {
      if (this.#uses.size <= keptMax) break;
      this.#uses.delete(oldest);
    }
  };

  /** Sends what is known; what cannot be sent is kept for the next time. */
  async flush(): Promise<void> {
    const taken = [...this.#uses];
    this.#uses.clear();
    for (let start = 0; start < taken.length; start += batchMax) {
      const batch = taken.slice(start, start + batchMax);
      try {
        await this.#service.recordKeyUse({
          uses: batch.map(([apiKeyId, usedAt]) => ({ apiKeyId, usedAt: timestampFromMs(usedAt) })),
        });
      } catch (error) {
        this.#log.warn({ err: error, keys: batch.length }, "uses of keys not recorded; trying again");
        for (const [keyId, usedAt] of batch) if (!this.#uses.has(keyId)) this.#uses.set(keyId, usedAt);
      }
    }
  }

  /** Sends the rest. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
