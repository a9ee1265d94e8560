// Whether a database takes what is written. A server that answers may be a standby or set read-only, have a full disk,
// or let every commit wait for a standby that is gone: reads go on, and nothing can be begun.

import type { EventEmitter } from "node:events";
import type pg from "pg";

// A commit waits for a standby some milliseconds; longer than this, nobody's request ends well.
const commitSecondsMax = 5;
// SQLSTATE disk_full, insufficient_privilege.
const [diskFull, notAllowed] = ["53100", "42501"] as const;

export class WriteWatch {
  readonly #pool: pg.Pool;
  /** A write was refused for want of room, and none that needs room has succeeded since. */
  #isFull = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    whenRefused(pool, diskFull, () => {
      this.#isFull = true;
    });
  }

  /** @throws when the server cannot be asked. */
  async takesWrites(): Promise<boolean> {
    const { rows } = await this.#pool.query<{ refuses: boolean }>(
      `select current_setting('transaction_read_only')::bool or exists (
         select from pg_stat_activity
         where usename = current_user and wait_event = 'SyncRep'
           and query_start < clock_timestamp() - make_interval(secs => $1)) as refuses`,
      [commitSecondsMax],
    );
    if (rows[0]?.refuses !== false) return false;
    if (this.#isFull) this.#isFull = !(await this.#hasRoom());
    return !this.#isFull;
  }

  /** Takes some room and gives it back. A row in a page that is there already would prove nothing. */
  async #hasRoom(): Promise<boolean> {
    const client = await this.#pool.connect();
    try {
      await client.query("begin");
      await client.query("create temp table room (filler text) on commit drop");
      await client.query("insert into room select repeat('x', 1900) from generate_series(1, 100)");
      return true;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      // Who may not try cannot know better than the last refusal, and must not stay refused for ever.
      if (code === notAllowed) return true;
      if (code === diskFull) return false;
      throw error;
    } finally {
      const isBroken = await client.query("rollback").then(
        () => false,
        () => true,
      );
      client.release(isBroken);
    }
  }
}

// Tells that the server refused a statement of any of a pool's connections, whoever asked.

/** What pg has of a connection and does not declare. */
interface Wire {
  readonly connection: EventEmitter;
}

/** @param code SQLSTATE */
export function whenRefused(pool: pg.Pool, code: string, notify: () => void): void {
  pool.on("connect", (client) => {
    (client as unknown as Wire).connection.on("errorMessage", (refusal: { code?: string }) => {
      if (refusal.code === code) notify();
    });
  });
}
