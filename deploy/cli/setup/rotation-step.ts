// A step of a rotation (rotation.ts), and the Secrets that it begins with.
import { UsageError } from "../command.ts";
import type { Secrets } from "./secret-formats.ts";

/** Applied in this order: SQL, Secrets, SQL after them, restarts. */
export interface RotationStep {
  readonly about: string;
  readonly sql?: string;
  readonly secrets?: Secrets;
  readonly sqlAfter?: string;
  readonly servers?: readonly ("nats" | "postgres")[];
  /** By their label `app.kubernetes.io/name`. */
  readonly deployments?: readonly string[];
}

/** The deployment that has the parts with the component one-process. */
export const oneProcess = "one";

/** @throws UsageError when it is missing */
export function secretIn(present: Secrets, name: string): Readonly<Record<string, string>> {
  const found = present[name];
  if (!found) throw new UsageError(`standard input has no Secret ${name}`);
  return found;
}
