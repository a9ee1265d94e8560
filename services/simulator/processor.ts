// The context of all flows, routes and jobs, built in service.ts.
import type { Logger } from "pino";
import type { SimulatorOptions } from "./config.ts";
import type { Faults } from "./flows/faults.ts";
import type { Later } from "./later.ts";
import type { Db } from "./store/pool.ts";

type Setting =
  | "delayMs"
  | "authorizationSeconds"
  | "keySeconds"
  | "pageSeconds"
  | "settlementSeconds"
  | "payoutSeconds"
  | "requiresName";

export interface Processor extends Required<Pick<SimulatorOptions, Setting>> {
  readonly db: Db;
  readonly log: Logger;
  /** Our public origin without a trailing slash. */
  readonly publicUrl: string;
  readonly fingerprintKey: Buffer;
  readonly keysInUse: Set<string>;
  readonly later: Later;
  readonly faults: Faults;
  /** Ends waits and hanging answers at a stop. */
  readonly stopping: AbortSignal;
  readonly wakeSender: () => void;
  /** Schedules the job of delayed facts. @param ms from now */
  readonly wakeClock: (ms: number) => void;
}
