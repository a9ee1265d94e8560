// Looks up processes and ends those left over from a killed run. Pids are reused, so a process must also match by its
// program or its start time.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

export interface ProcessFacts {
  /** Start time: differs between processes with the same pid, also across a reboot. */
  birth: string;
  /** Program and arguments, joined by blanks. */
  command: string;
}

const pollMs = 20; // a server that stops takes 20 to 200 ms
/** Field 22 of proc_pid_stat(5), counted from field 3, the first one after the program's name. */
const startTimeField = 19;

/** @returns undefined if the process is gone, a zombie, or the pid is invalid */
export function inspectProcess(pid: number): ProcessFacts | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return process.platform === "linux" ? inspectByProc(pid) : inspectByPs(pid);
}

/** Slim images have no `ps`; every Linux has /proc. */
function inspectByProc(pid: number): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return { birth: `${boot}:${fields[startTimeField]}`, command };
  } catch {
    return undefined;
  }
}

function inspectByPs(pid: number): ProcessFacts | undefined {
  try {
    const ask = (column: string) =>
      execFileSync("ps", ["-p", String(pid), "-o", `${column}=`], { stdio: ["ignore", "pipe", "ignore"] })
        .toString()
        .trim();
    return ask("stat").startsWith("Z") ? undefined : { birth: ask("lstart"), command: ask("args") };
  } catch {
    return undefined;
  }
}

/**
 * Ends a left-over process if the pid still belongs to the program.
 * @param program must be part of its command line
 * @param graceMs before it is killed
 * @returns true if there was one
 */
export async function endLeftover(
  pid: number,
  program: string,
  signal: NodeJS.Signals,
  graceMs: number,
): Promise<boolean> {
  const found = inspectProcess(pid);
  if (!found?.command.includes(program)) return false;
  const isSame = () => inspectProcess(pid)?.birth === found.birth;
  process.kill(pid, signal);
  for (let waitedMs = 0; isSame() && waitedMs < graceMs; waitedMs += pollMs) await pause(pollMs);
  if (isSame()) process.kill(pid, "SIGKILL");
  for (let waitedMs = 0; isSame() && waitedMs < graceMs; waitedMs += pollMs) await pause(pollMs);
  if (isSame()) throw new Error(`process ${pid} (${program}) of an earlier run does not end`);
  return true;
}
