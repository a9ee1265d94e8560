// Finds a Docker engine, or anything that speaks its API, without loading a client library: most machines have none.
import { existsSync } from "node:fs";
import { request } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";

const pingMsMax = 1_500; // a live engine answers in 5 ms; a dead DOCKER_HOST must not hold up every run

/** @returns the engine's address in the form of DOCKER_HOST; undefined when none answers */
export async function dockerEngine(): Promise<string | undefined> {
  const sockets = [
    "/var/run/docker.sock",
    join(homedir(), ".docker/run/docker.sock"),
    `/run/user/${process.getuid?.() ?? 0}/podman/podman.sock`,
    "/run/podman/podman.sock",
  ];
  const configured = process.env.DOCKER_HOST;
  const candidates = configured
    ? [configured]
    : sockets.filter((path) => existsSync(path)).map((path) => `unix://${path}`);
  for (const candidate of candidates) if (await answers(candidate)) return candidate;
  return undefined;
}

function answers(address: string): Promise<boolean> {
  if (!URL.canParse(address)) return Promise.resolve(false);
  const url = new URL(address);
  const endpoint =
    url.protocol === "unix:" ? { socketPath: url.pathname } : { host: url.hostname, port: url.port || "2375" };
  return new Promise((resolve) => {
    const ping = request({ ...endpoint, path: "/_ping", timeout: pingMsMax }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    ping.on("timeout", () => ping.destroy());
    ping.on("error", () => resolve(false));
    ping.end();
  });
}
