// Points after each phase of a flow at which a test kills the process: another process must find and finish the rest. A
// point does nothing without CRASH_POINT_DIR, which production rejects.
import { unlinkSync } from "node:fs";
import { join } from "node:path";

const dir = process.env.CRASH_POINT_DIR || undefined;
if (dir !== undefined && process.env.NODE_ENV === "production") {
  throw new Error("CRASH_POINT_DIR is for tests and refused in production");
}

/**
 * Kills the process if CRASH_POINT_DIR contains a file of this name, and removes the file.
 * @param name `<flow>.<phase>`, used once per service
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
