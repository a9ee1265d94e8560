// Starts a nats-server with JetStream on loopback; stream data in its folder survives restarts and kills.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openLogFile } from "./process/log-file.ts";
import { endLeftover } from "./process/process-table.ts";
import type { RunningProcess } from "./process/running-process.ts";
import { runServer } from "./process/server-process.ts";

const leftoverMsMax = 5_000; // it stops in 20 ms

export interface NatsOptions {
  /** Path of the program; see nats-binary.ts. */
  program: string;
  /** Absent, or before 2.10: an acknowledged message may not be on disk yet. */
  version?: string;
  /** Holds the stream data; created if missing. */
  storeDir: string;
  port: number;
  /** Authorization block of the configuration; absent: no login needed. */
  authorization?: string;
  /** Further blocks of the configuration. */
  config?: string;
  logPath?: string;
  keepsParentAlive?: boolean;
}

export interface NatsServer extends RunningProcess {
  url: string;
}

/** Resolves when the server is ready. */
export async function startNats(options: NatsOptions): Promise<NatsServer> {
  await mkdir(options.storeDir, { recursive: true });
  const pidFile = join(options.storeDir, "nats.pid");
  // nats-server does not lock its store: the survivor of a killed stack must stop first.
  const leftover = Number(await readFile(pidFile, "utf8").catch(() => ""));
  await endLeftover(leftover, options.storeDir, "SIGTERM", leftoverMsMax);
  const config = join(options.storeDir, "nats.conf");
  const blocks = [natsConfig(options.storeDir, options.version), options.authorization, options.config];
  await writeFile(config, blocks.join(""), { mode: 0o600 });
  const addressArgs = ["-a", "127.0.0.1", "-p", String(options.port), "-P", pidFile];
  const server = await runServer({
    name: "nats-server",
    program: options.program,
    args: [...addressArgs, "-c", config],
    env: { PATH: process.env.PATH ?? "" },
    readyText: "Server is ready",
    stopSignal: "SIGTERM",
    log: options.logPath === undefined ? undefined : openLogFile(options.logPath),
    keepsParentAlive: options.keepsParentAlive,
  });
  return { ...server, url: natsUrl(options) };
}

/**
 * By default a server grants streams three quarters of the free disk. A stack's streams reserve 4 × 4 GB, which a
 * laptop may not have free; a reservation takes no space.
 */
export function natsConfig(storeDir: string, version?: string): string {
  const sync = version !== undefined && knowsSyncInterval(version) ? ", sync_interval: always" : "";
  return `jetstream { store_dir: ${JSON.stringify(storeDir)}, max_file_store: 16TB${sync} }\n`;
}

/** Older servers do not start with `sync_interval`, which makes a server write each message to disk before its ack. */
export function knowsSyncInterval(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 10);
}

export function natsUrl({ port }: Pick<NatsOptions, "port">): string {
  return `nats://127.0.0.1:${port}`;
}
