// Places where a test lets the process die, one after each phase of a flow: what is left must be found and finished by
// whoever comes next. Without CRASH_POINT_DIR in the environment a place is an empty call; in production the setting is
// refused.
import { unlinkSync } from "node:fs";
import { join } from "node:path";

const dir = process.env.CRASH_POINT_DIR || undefined;
if (dir !== undefined && process.env.NODE_ENV === "production") {
  throw new Error("CRASH_POINT_DIR is for tests and refused in production");
}

/**
 * Dies here, once, if a file of this name lies in CRASH_POINT_DIR; the file goes with it.
 * @param name `<flow>.<phase>`, at one place of one service
 */
export function crashPoint(name: string): void {
  if (dir === undefined) return;
  try {
    unlinkSync(join(dir, name));
  } catch {
    return; // not armed
  }
  process.kill(process.pid, "SIGKILL");
}
