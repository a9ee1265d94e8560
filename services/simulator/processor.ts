// The context of all flows, routes and jobs, built in service.ts.
import type { Logger } from "pino";
import type { Faults } from "./flows/faults.ts";
import type { Later } from "./later.ts";
import type { Db } from "./store/pool.ts";

export interface Processor {
  readonly db: Db;
  readonly log: Logger;
  /** Our public origin without a trailing slash. */
  readonly publicUrl: string;
  readonly fingerprintKey: Buffer;
  /** Delay of delayed facts, milliseconds. */
  readonly delayMs: number;
  /** How long an authorization can be captured. */
  readonly authorizationSeconds: number;
  /** How long the first answer to an idempotency key is kept. */
  readonly keySeconds: number;
  /** Lifetime of a new intent's page; 0: unlimited. */
  readonly pageSeconds: number;
  /** The form requires the cardholder's name. */
  readonly requiresName: boolean;
  /** Accounts and idempotency keys of calls in progress. */
  readonly keysInUse: Set<string>;
  readonly later: Later;
  readonly faults: Faults;
  /** Ends waits and hanging answers at a stop. */
  readonly stopping: AbortSignal;
  /** Wakes the webhook sender. */
  readonly wakeSender: () => void;
  /** Schedules the job of delayed facts. @param ms from now */
  readonly wakeClock: (ms: number) => void;
}
