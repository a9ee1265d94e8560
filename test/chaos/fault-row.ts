// The shape of a row of the fault table.

/** The component that fails. */
export type Culprit =
  | "processor"
  | "clock"
  | "network"
  | "broker"
  | "database"
  | "process"
  | "operator"
  | "merchant's server";
/** `drill`: a separate test or command, named by the row, proves it. */
export type DrawnBy = "walk" | "chaos" | "both" | "drill";

export interface FaultRow {
  readonly name: string;
  readonly who: Culprit;
  readonly what: string;
  readonly drawnBy: DrawnBy;
  /** For a drill: the test or command, and the reason. */
  readonly because?: string;
  /** The guarantee under this fault. */
  readonly promise: string;
}

/** A row; a drill adds `because`. */
export function row<Name extends string, Drawn extends DrawnBy>(
  name: Name,
  who: Culprit,
  drawnBy: Drawn,
  what: string,
  promise: string,
) {
  return { name, who, drawnBy, what, promise } as const;
}
