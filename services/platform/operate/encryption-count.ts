// Counts how often the first encryption key encrypts, and ends it at 2^32: nonces are 96 random bits, and beyond that
// two of them may be one, which gives AES-GCM away (NIST SP 800-38D, 8.3). A process takes a block of encryptions in
// the database before it uses them, so that a request writes nothing for them, and a crash leaves the number too high
// by less than a block, never too low.

import { type Sql, time } from "#platform/database/database.ts";
import { type JobContext, Wake } from "#platform/jobs/job.ts";
import type { KeyRing } from "#platform/secrets/key-ring.ts";
import { Failure } from "#platform/values/failure.ts";

/** How often one key may encrypt. */
export const encryptionsMax = 2 ** 32;

// A busy replica seals some hundred values a second: half a block outlasts a stall of the database of several seconds,
// and a million starts of processes fit into the limit.
const blockSize = 4_096;
// A failed attempt must not cost more of the other half than it has to.
const failurePauseMsMax = 1_000;
const everyMs = 60_000;

/** How far a key is used up. */
export interface EncryptionState {
  readonly encryptions: number;
  readonly firstUsedAt: Date;
  /** By the database's clock. */
  readonly ageSeconds: number;
}

export class EncryptionCount {
  readonly keyId: string;
  /** Takes the next block when half of one is left. */
  readonly job: JobContext;
  readonly #sql: Sql;
  #left = 0;
  #isSpent = false;
  readonly #wake = new Wake();

  private constructor(sql: Sql, keyId: string) {
    this.#sql = sql;
    this.keyId = keyId;
    this.job = {
      name: "reserve-encryptions",
      everyMs,
      failurePauseMsMax,
      wake: this.#wake,
      runOnce: async () => {
        await this.reserve(blockSize / 2);
        return false;
      },
    };
  }

  /**
   * Takes the first block. A key that is used up is no reason not to start: what it has sealed still has to be opened.
   */
  static async begin(sql: Sql, keys: KeyRing): Promise<EncryptionCount> {
    const [keyId = ""] = keys.keys();
    const count = new EncryptionCount(sql, keyId);
    await count.reserve(blockSize);
    return count;
  }

  /**
   * To be called before each encryption. @throws Failure INTERNAL_ERROR when the key is used up, SERVICE_UNAVAILABLE
   * while no block could be taken
   */
  take(): void {
    if (this.#left === 0) throw this.#refusal();
    this.#left -= 1;
    if (this.#left < blockSize / 2) this.#wake.now();
  }

  /**
   * Makes sure that so many encryptions can follow; takes a whole block at least. When the key has not as many left,
   * nothing is taken.
   */
  async reserve(wanted: number): Promise<void> {
    if (this.#left >= wanted || this.#isSpent) return;
    const block = Math.max(blockSize, wanted - this.#left);
    const taken = await this.#sql.rows(
      `insert into encryption_counts as c (key_id, encryptions) values ($1, $2)
       on conflict (key_id) do update set encryptions = c.encryptions + $2 where c.encryptions + $2 <= $3
       returning 1`,
      [this.keyId, block, encryptionsMax],
    );
    // Numbers only grow: what was too much once is too much for ever.
    if (taken.length === 0) this.#isSpent = true;
    else this.#left += block;
  }

  #refusal(): Failure {
    if (!this.#isSpent) {
      return new Failure("SERVICE_UNAVAILABLE", { cause: new Error("no encryption could be counted ahead") });
    }
    const problem = `encryption key ${this.keyId} has encrypted 2^32 times: put a new key first in ENCRYPTION_KEYS`;
    return new Failure("INTERNAL_ERROR", { cause: new Error(problem) });
  }
}

/** What is known of each key that ever encrypted here, by its id. */
export async function encryptionStates(sql: Sql): Promise<Map<string, EncryptionState>> {
  const rows = await sql.rows<{ key_id: string; encryptions: string; first_used_at: string; age: number }>(
    `select key_id, encryptions, first_used_at, extract(epoch from now() - first_used_at)::float8 as age
     from encryption_counts order by first_used_at`,
  );
  return new Map(
    rows.map((row) => [
      row.key_id,
      { encryptions: Number(row.encryptions), firstUsedAt: time(row.first_used_at), ageSeconds: row.age },
    ]),
  );
}
