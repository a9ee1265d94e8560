// What a row of the fault table says.

/** Whose fault it is. */
export type Culprit =
  | "processor"
  | "clock"
  | "network"
  | "broker"
  | "database"
  | "process"
  | "operator"
  | "merchant's server";
/** `drill`: by none of the two, but by a test or command of its own that the row names. */
export type DrawnBy = "walk" | "chaos" | "both" | "drill";

export interface FaultRow {
  readonly name: string;
  readonly who: Culprit;
  readonly what: string;
  readonly drawnBy: DrawnBy;
  /** Of a drill: which one, and why walk and chaos do not draw it. */
  readonly because?: string;
  /** What holds then. */
  readonly promise: string;
}

/** A row that is drawn; one that is not adds `because`. */
export function row<Name extends string, Drawn extends DrawnBy>(
  name: Name,
  who: Culprit,
  drawnBy: Drawn,
  what: string,
  promise: string,
) {
  return { name, who, drawnBy, what, promise } as const;
}
