// CPU time of ended child processes. Linux keeps one sum of all children that were waited for, with their own
// waited-for children. Node waits for a child just before it emits its end: the increase is that child's.
import { readFileSync } from "node:fs";

const ticksPerSecond = 100; // USER_HZ of every Linux that Node runs on
const fieldOfChildrenUser = 13; // cutime in proc(5), counted from the field after the program's name

/** Seconds of all children that have ended; undefined where the system does not report them. */
function secondsOfEndedChildren(): number | undefined {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the name may hold blanks
    return (Number(fields[fieldOfChildrenUser]) + Number(fields[fieldOfChildrenUser + 1])) / ticksPerSecond;
  } catch {
    return undefined;
  }
}

let counted = secondsOfEndedChildren() ?? 0;

/**
 * CPU seconds of the processes that ended since the last call, made right after a child's end: those of its tree. Of
 * two that end in the same instant the first gets both. Orphans of a killed parent are not counted.
 */
export function secondsSinceLastEnd(): number | undefined {
  const seconds = secondsOfEndedChildren();
  if (seconds === undefined) return undefined;
  const own = seconds - counted;
  counted = seconds;
  return own;
}
