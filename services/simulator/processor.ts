// What every flow, route and job of the processor works with; made once at start, in service.ts.
import type { Logger } from "pino";
import type { Faults } from "./flows/faults.ts";
import type { Later } from "./later.ts";
import type { Db } from "./store/pool.ts";

export interface Processor {
  readonly db: Db;
  readonly log: Logger;
  /** Our origin as others see it, without a slash at the end. */
  readonly publicUrl: string;
  readonly fingerprintKey: Buffer;
  /** Milliseconds until what happens by itself happens. */
  readonly delayMs: number;
  /** How long an authorization can be captured. */
  readonly authorizationSeconds: number;
  /** How long the first answer to an idempotency key is kept. */
  readonly keySeconds: number;
  /** How long the page of a new intent lives; 0: for ever. */
  readonly pageSeconds: number;
  /** Whether the form wants the cardholder's name. */
  readonly requiresName: boolean;
  /** Account and idempotency key of what is being worked on. */
  readonly keysInUse: Set<string>;
  /** Work that goes on after its call was answered. */
  readonly later: Later;
  readonly faults: Faults;
  /** Ends waits and hanging answers when the process stops. */
  readonly stopping: AbortSignal;
  /** Tells the sender that there is something to send. */
  readonly wakeSender: () => void;
  /** Tells the job of the delayed facts that there is one more, so many milliseconds from now. */
  readonly wakeClock: (ms: number) => void;
}
