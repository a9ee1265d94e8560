// Tells that the server refused a statement of any of a pool's connections, whoever asked.
import type { EventEmitter } from "node:events";
import type pg from "pg";

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
