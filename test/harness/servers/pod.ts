// One replica of a service as a process, as a kubelet runs it: in its service's balancer while its readiness probe
// passes, ended by SIGTERM, and expected to exit cleanly.
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../../../deploy/local/free-port.ts";
import type { RunningProcess } from "../../../deploy/local/process/running-process.ts";
import { eventually } from "../eventually.ts";

export interface Pod {
  readonly port: number;
  /** As Kubernetes ends it. The balancer notices by the readiness probe, with its delay. */
  end(): Promise<void>;
  /** For after the last call. */
  kill(): Promise<void>;
}

const probeEveryMs = 100;
const startMsMax = 60_000;

/**
 * Starts a replica and waits until it is balanced.
 * @param name for messages
 * @param balanced the ports of the service's replicas that are ready
 * @param start runs the process on these ports
 */
export async function startPod(
  name: string,
  balanced: Set<number>,
  start: (ports: { port: number; adminPort: number }) => Promise<RunningProcess>,
): Promise<Pod> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const running = await start({ port, adminPort });
  let watched = true;
  void (async () => {
    while (watched) {
      const isReady = await fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
        (answer) => answer.ok,
        () => false,
      );
      if (isReady && watched) balanced.add(port);
      else balanced.delete(port);
      await pause(probeEveryMs);
    }
  })();
  const unwatch = () => {
    watched = false;
    balanced.delete(port);
  };
  await eventually(`${name} to be ready`, () => balanced.has(port), { limitMs: startMsMax });
  return {
    port,
    async end() {
      process.kill(running.pid, "SIGTERM");
      const ended = await running.exited;
      unwatch();
      if (ended !== "exit code 0") throw new Error(`a replica of ${name} did not stop cleanly: ${ended}`);
    },
    async kill() {
      unwatch();
      process.kill(running.pid, "SIGKILL");
      await running.exited;
    },
  };
}
