// Fault switches: which calls and webhooks a test has asked to go wrong, and how. Chance is a function of the seed and the
// number of the draw, so that a run can be repeated exactly.

export const apiFaultKinds = ["delay", "error_before", "error_after", "hang_after"] as const;
export const webhookFaultKinds = ["delay", "duplicate", "reorder", "drop_once", "hold"] as const;
export const faultTargets = [
  "api.intents.create",
  "api.intents.get",
  "api.intents.cancel",
  "api.refunds.create",
  "api.refunds.get",
  "api.*",
  "webhooks",
] as const;

export type ApiTarget = Exclude<(typeof faultTargets)[number], "api.*" | "webhooks"> | "api.statement.get";

/** What is asked for by PUT /test/faults. */
export interface FaultSwitch {
  readonly target: (typeof faultTargets)[number];
  readonly kind: (typeof apiFaultKinds)[number] | (typeof webhookFaultKinds)[number];
  /** How long, milliseconds; for delay and reorder. */
  readonly ms: number;
  /** How often it fires at most; absent: without end. */
  readonly count?: number;
  /** 0…1; absent: always. */
  readonly probability?: number;
  readonly seed: number;
  readonly account?: string;
  readonly reference?: string;
}

export interface Fault extends FaultSwitch {
  readonly id: string;
  drawn: number;
  fired: number;
}

export interface FaultSubject {
  readonly target: ApiTarget | "webhooks";
  readonly account: string;
  /** References that the call or event is about. */
  readonly references: readonly string[];
  /** Absent: switches of every kind. */
  readonly kinds?: readonly FaultSwitch["kind"][];
}

/** Whether this call or event is one that the switch means, and it has some left. Draws nothing. */
export function isMeant(fault: Fault, subject: FaultSubject): boolean {
  if (fault.count !== undefined && fault.fired >= fault.count) return false;
  if (subject.kinds && !subject.kinds.includes(fault.kind)) return false;
  if (fault.target !== subject.target && !(fault.target === "api.*" && subject.target.startsWith("api."))) return false;
  if (fault.account !== undefined && fault.account !== subject.account) return false;
  return fault.reference === undefined || subject.references.includes(fault.reference);
}

/** The n-th draw of a switch. */
export function isDrawn(fault: FaultSwitch, n: number): boolean {
  return fault.probability === undefined || chance(fault.seed, n) < fault.probability;
}

/** Evenly spread over 0…1, the same for the same seed and number (mulberry32). */
function chance(seed: number, n: number): number {
  let mixed = (seed + Math.imul(n, 0x6d2b79f5)) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
