// Fault switches: the calls and webhooks that a test makes fail, and how. Chance is a function of the seed and the
// draw's number, so that runs are repeatable.

const anyCall = [
  "delay",
  "error_before",
  "error_after",
  "hang_after",
  "edge_error",
  "too_many",
  "conflict",
  "cut",
] as const;

/** Faults of calls that change, read or list objects. */
export const callFaultKinds = {
  change: [...anyCall, "answer_early", "error_during"],
  look: [...anyCall, "missing"],
  list: [...anyCall, "stale_list"],
} as const;
export const webhookFaultKinds = ["delay", "duplicate", "reorder", "drop_once", "hold", "lose"] as const;

export type CallKind = keyof typeof callFaultKinds;
export type ApiFaultKind = (typeof callFaultKinds)[CallKind][number];
export type FaultKind = ApiFaultKind | (typeof webhookFaultKinds)[number];

const callsOf = {
  "api.intents.create": ["change"],
  "api.intents.get": ["look", "list"],
  "api.intents.capture": ["change"],
  "api.intents.cancel": ["change"],
  "api.refunds.create": ["change"],
  "api.refunds.get": ["look", "list"],
  "api.disputes.get": ["look"],
  "api.disputes.evidence": ["change"],
  "api.disputes.accept": ["change"],
  "api.files.create": ["change"],
  "api.statement.get": ["list"],
  "api.events.get": ["list"],
  "api.movements.get": ["list"],
  "api.payouts.get": ["list"],
  "api.balance.get": ["list"],
  "api.*": ["change", "look", "list"],
} as const satisfies Readonly<Record<string, readonly CallKind[]>>;

export type ApiTarget = Exclude<keyof typeof callsOf, "api.*">;
export type FaultTarget = keyof typeof callsOf | "webhooks";
export const faultTargets: readonly FaultTarget[] = [
  "api.intents.create",
  "api.intents.get",
  "api.intents.capture",
  "api.intents.cancel",
  "api.refunds.create",
  "api.refunds.get",
  "api.disputes.get",
  "api.disputes.evidence",
  "api.disputes.accept",
  "api.files.create",
  "api.statement.get",
  "api.events.get",
  "api.movements.get",
  "api.payouts.get",
  "api.balance.get",
  "api.*",
  "webhooks",
];

export function kindsOf(target: FaultTarget): readonly FaultKind[] {
  if (target === "webhooks") return webhookFaultKinds;
  return [...new Set(callsOf[target].flatMap((call): readonly FaultKind[] => callFaultKinds[call]))];
}

export interface FaultSwitch {
  readonly target: FaultTarget;
  readonly kind: FaultKind;
  /** Duration, milliseconds; for delay, reorder, answer_early, error_during and stale_list. */
  readonly ms: number;
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
  readonly references: readonly string[];
  /** Only these kinds match and count. Absent: all kinds. */
  readonly kinds?: readonly FaultKind[];
}

/** True if the switch matches the call or event and has firings left. Draws nothing. */
export function isMeant(fault: Fault, subject: FaultSubject): boolean {
  if (fault.count !== undefined && fault.fired >= fault.count) return false;
  if (subject.kinds && !subject.kinds.includes(fault.kind)) return false;
  if (fault.target !== subject.target && !(fault.target === "api.*" && subject.target.startsWith("api."))) return false;
  if (fault.account !== undefined && fault.account !== subject.account) return false;
  return fault.reference === undefined || subject.references.includes(fault.reference);
}

/** True if the n-th draw of the switch fires. */
export function isDrawn(fault: FaultSwitch, n: number): boolean {
  return fault.probability === undefined || chance(fault.seed, n) < fault.probability;
}

/** Uniform over 0…1, deterministic by seed and number (mulberry32). */
function chance(seed: number, n: number): number {
  let mixed = (seed + Math.imul(n, 0x6d2b79f5)) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
