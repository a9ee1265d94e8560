// Whether a database accepts writes. A server that answers may be a standby, read-only, out of disk space, or waiting
// for a lost synchronous standby: then reads work and nothing new can begin.

import type { EventEmitter } from "node:events";
import type pg from "pg";
import { errorCode } from "#platform/values/unchecked.ts";

// A commit waits milliseconds for a standby; after this, requests time out.
const commitSecondsMax = 5;
// SQLSTATE disk_full, insufficient_privilege.
const [diskFull, notAllowed] = ["53100", "42501"] as const;

export class WriteWatch {
  readonly #pool: pg.Pool;
  /** A write failed for lack of space, and no write that needs space has succeeded since. */
  #isFull = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    whenRefused(pool, diskFull, () => {
      this.#isFull = true;
    });
  }

  /** @throws when the server does not answer */
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

  /** Allocates some space and releases it. A row in an existing page would prove nothing. */
  async #hasRoom(): Promise<boolean> {
    try {
      // Without `begin` both statements are one transaction, which also ends when it fails.
      await this.#pool.query(`create temp table room (filler text) on commit drop;
        insert into room select repeat('x', 1900) from generate_series(1, 100)`);
      return true;
    } catch (error) {
      const code = errorCode(error);
      // A role that may not create temporary tables cannot test, and must not stay refused permanently.
      if (code === notAllowed) return true;
      if (code === diskFull) return false;
      throw error;
    }
  }
}

/** A member of pg's connection that its types omit. */
interface Wire {
  readonly connection: EventEmitter;
}

/** Calls back when the server refuses a statement on any of the pool's connections. @param code SQLSTATE */
export function whenRefused(pool: pg.Pool, code: string, notify: () => void): void {
  pool.on("connect", (client) => {
    (client as unknown as Wire).connection.on("errorMessage", (refusal: { code?: string }) => {
      if (refusal.code === code) notify();
    });
  });
}
