// Where the processes of a stack log: each in a file of its own, or all parts of one process in its file.
import { dirname, join } from "node:path";
import type { StackInfo } from "../../../deploy/local/stack-file.ts";

/** The file with the lines of this process, or of the one that it is a part of. */
export function logFile({ tls, pids }: StackInfo, name: string): string {
  const file = pids[name] === undefined ? "one" : name;
  return join(dirname(dirname(tls.ca)), "logs", `${file}.log`);
}
