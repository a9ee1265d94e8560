// Describes the handles that keep this process alive: sockets by both ends, servers by port, children by command. Node
// lists them only in an internal call, which tests may use and the product may not.
import { ChildProcess } from "node:child_process";
import { Server, Socket } from "node:net";

/** One text for each open handle, and the names of what Node cannot describe, such as timers. */
export function openHandles(): string[] {
  const list: unknown = Reflect.get(process, "_getActiveHandles");
  const handles: unknown = typeof list === "function" ? list.call(process) : [];
  return [...process.getActiveResourcesInfo(), ...(Array.isArray(handles) ? handles.map(described) : [])];
}

function described(handle: unknown): string {
  if (handle instanceof Socket) {
    if (handle === process.stdout || handle === process.stderr) return "own output";
    const state = `${handle.readyState}${handle.connecting ? ", connecting" : ""}`;
    if (handle.remotePort === undefined && handle.localPort === undefined) return `pipe (${state})`;
    const ends = `${handle.localAddress}:${handle.localPort} to ${handle.remoteAddress}:${handle.remotePort}`;
    return `socket ${ends} (${state}, read ${handle.bytesRead}, written ${handle.bytesWritten} bytes)`;
  }
  if (handle instanceof Server) return `server on ${JSON.stringify(handle.address())}`;
  if (handle instanceof ChildProcess) return `child ${handle.pid} (${handle.spawnargs.slice(0, 3).join(" ")})`;
  return handle?.constructor?.name ?? typeof handle;
}
