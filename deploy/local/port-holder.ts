// Which program listens on a port of this machine, in words for a person who has to stop it.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { inspectProcess } from "./process-table.ts";

const lengthMax = 80; // of a command line; what tells programs apart stands at its beginning
const listening = "0A"; // a socket's state in /proc/net/tcp

/** The program; where it cannot be found out, the command that says it. */
export function holderOf(port: number): string {
  const pid = pidOf(inodesOf(port));
  if (pid === undefined) return `another program (lsof -nP -iTCP:${port} -sTCP:LISTEN names it)`;
  const command = inspectProcess(pid)?.command ?? "a program";
  return `${command.length > lengthMax ? `${command.slice(0, lengthMax)}…` : command} (pid ${pid})`;
}

/** The sockets that listen on the port, whatever the address: only Linux has these tables. */
function inodesOf(port: number): Set<string> {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const rows = ["tcp", "tcp6"].flatMap((name) => {
    try {
      return readFileSync(`/proc/net/${name}`, "utf8").split("\n").slice(1);
    } catch {
      return [];
    }
  });
  const fields = rows.map((row) => row.trim().split(/\s+/));
  const ours = fields.filter(([, local, , state]) => local?.endsWith(`:${hex}`) && state === listening);
  return new Set(ours.map((row) => `socket:[${row[9]}]`));
}

/** Another user's process keeps its open files to itself, and stays unfound. */
function pidOf(sockets: ReadonlySet<string>): number | undefined {
  if (sockets.size === 0) return undefined;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => openFiles(pid).some((file) => sockets.has(file)));
}

function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => linkOf(`/proc/${pid}/fd/${name}`));
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
