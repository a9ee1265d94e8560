// Starts a nats-server with JetStream on a folder of ours, on loopback only; stream data survives restarts and kills.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openLogFile } from "./process/log-file.ts";
import { endLeftover } from "./process/process-table.ts";
import type { RunningProcess } from "./process/running-process.ts";
import { runServer } from "./process/server-process.ts";

const leftoverMsMax = 5_000; // it stops in 20 ms

/** What a server is started with. */
export interface NatsOptions {
  /** The program; see nats-binary.ts. */
  program: string;
  /** Absent, or before 2.10: what is acknowledged may not be on the disk yet. */
  version?: string;
  /** Holds the stream data; made if missing. */
  storeDir: string;
  port: number;
  /** The block of its configuration that says who may do what; absent: everybody anything. */
  authorization?: string;
  /** Blocks of its configuration besides. */
  config?: string;
  logPath?: string;
  keepsParentAlive?: boolean;
}

/** A running server with its address. */
export interface NatsServer extends RunningProcess {
  /** `nats://` URL. */
  url: string;
}

/** Starts the server and waits until it is ready. */
export async function startNats(options: NatsOptions): Promise<NatsServer> {
  await mkdir(options.storeDir, { recursive: true });
  const pidFile = join(options.storeDir, "nats.pid");
  // nats-server does not lock its store: the survivor of a killed stack is stopped first
  const leftover = Number(await readFile(pidFile, "utf8").catch(() => ""));
  await endLeftover(leftover, options.storeDir, "SIGTERM", leftoverMsMax);
  const config = join(options.storeDir, "nats.conf");
  const blocks = [natsConfig(options.storeDir, options.version), options.authorization, options.config];
  await writeFile(config, blocks.join(""), {
    mode: 0o600,
  });
  const addressArgs = ["-a", "127.0.0.1", "-p", String(options.port), "-P", pidFile];
  const server = await runServer({
    name: "nats-server",
    program: options.program,
    args: [...addressArgs, "-c", config],
    env: { PATH: process.env.PATH ?? "" },
    readyText: "Server is ready",
    stopSignal: "SIGTERM",
    ...(options.logPath === undefined ? {} : { log: openLogFile(options.logPath) }),
    ...(options.keepsParentAlive === undefined ? {} : { keepsParentAlive: options.keepsParentAlive }),
  });
  return { ...server, url: natsUrl(options) };
}

/**
 * Streams reserve their upper limits, four times 4 GB a stack, and by default a server grants three quarters of the
 * free disk: a laptop with 20 GB free could start nothing. What is reserved takes no room; events of a sandbox have a
 * few megabytes.
 */
export function natsConfig(storeDir: string, version?: string): string {
  const sync = version !== undefined && knowsSyncInterval(version) ? ", sync_interval: always" : "";
  return `jetstream { store_dir: ${JSON.stringify(storeDir)}, max_file_store: 16TB${sync} }\n`;
}

/**
 * Whether a server of this version can be told to write each event to the disk before it acknowledges it; an older one
 * does not start.
 */
export function knowsSyncInterval(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 10);
}

/** Where the server will be. */
export function natsUrl({ port }: Pick<NatsOptions, "port">): string {
  return `nats://127.0.0.1:${port}`;
}
