// A money rig that can be disturbed: PostgreSQL (waiting for the disk, as in production) and NATS are its own, and the ways of clients
// to the gateway and of the services to both servers lead over links that can be cut.
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { withDatabase } from "../../deploy/local/databases.ts";
import { freePort } from "../../deploy/local/free-port.ts";
import { natsUrl, startNats } from "../../deploy/local/nats.ts";
import { findNatsServer } from "../../deploy/local/nats-binary.ts";
import { postgresUrl, startPostgres } from "../../deploy/local/postgres.ts";
import { createSupervisor, type Supervisor } from "../../deploy/local/supervisor.ts";
import { api, merchantApi } from "../harness/api.ts";
import { tempDir } from "../harness/temp-dir.ts";
import type { Link, Part } from "./disturbance.ts";
import { type CuttableLink, openLink } from "./link.ts";
import { type MoneyRig, startMoneyRig } from "./money-rig.ts";

export interface ChaosRig extends MoneyRig {
  /** SIGKILL; resolves when its successor is ready. @returns false when the part is away already */
  kill(part: Part): Promise<boolean>;
  /** SIGSTOP to it and its children, SIGCONT after the time, also when this process is gone by then. */
  freeze(part: Part, forMs: number): Promise<boolean>;
  /** Breaks all connections of a link. */
  cut(link: Link): boolean;
}

const password = "chaos";

export async function startChaosRig(): Promise<ChaosRig> {
  const home = await tempDir("chaos");
  const servers = createSupervisor(
    () => {},
    () => {},
  );
  const opened: CuttableLink[] = [];
  const open = async (port: number) => {
    const link = await openLink(port);
    opened.push(link);
    return link;
  };
  const close = async () => {
    await Promise.all(opened.map((link) => link.close()));
    await servers.stop("postgres", "nats");
    await rm(home, { recursive: true, force: true });
  };
  try {
    const ports = await startServers(servers, home);
    const [postgres, nats] = [await open(ports.postgres), await open(ports.nats)];
    const rig = await startMoneyRig({
      ownServers: true, // those that are given here
      databaseUrl: withDatabase(postgresUrl({ port: postgres.port, password }), "chaos"),
      natsUrl: natsUrl({ port: nats.port }),
      env: { LOG_LEVEL: "warn", WEBHOOK_RETRY_BASE_MS: "300", WEBHOOK_RETRY_CAP_MS: "2000" },
    });
    const { stack } = rig.running;
    const gateway = await open(Number(new URL(stack.gateway).port));
    const links = { postgres, nats, gateway };
    const front = `http://127.0.0.1:${gateway.port}`;
    const pidOf = (part: Part) => ({ ...stack.pids, ...servers.pids() })[part];
    return {
      ...rig,
      merchant: merchantApi(front, stack.api_key),
      buyer: api(front),
      async kill(part) {
        if (pidOf(part) === undefined) return false;
        await (part === "postgres" || part === "nats" ? servers : rig.running).kill9(part);
        return true;
      },
      async freeze(part, forMs) {
        const pid = pidOf(part);
        if (pid !== undefined) await stopAndContinue(pid, forMs);
        return pid !== undefined;
      },
      cut: (link) => links[link].cut() > 0,
      async stop() {
        await rig.stop();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startServers(servers: Supervisor, home: string): Promise<{ postgres: number; nats: number }> {
  const ports = { postgres: await freePort(), nats: await freePort() };
  const { path: program } = await findNatsServer();
  await servers.start(
    { name: "postgres", start: () => startPostgres({ home, port: ports.postgres, password, isDurable: true }) },
    { name: "nats", start: () => startNats({ program, storeDir: join(home, "nats"), port: ports.nats }) },
  );
  return ports;
}

/** By a shell, which outlives us: a frozen process could not notice that it has to end with us. */
async function stopAndContinue(pid: number, forMs: number): Promise<void> {
  // The parent first: it must not have further children meanwhile.
  const script = `kill -STOP $0; kids=$(cat /proc/$0/task/$0/children 2>/dev/null); kill -STOP $kids 2>/dev/null
    sleep ${forMs / 1_000}; kill -CONT $0 $kids 2>/dev/null`;
  const shell = spawn("/bin/sh", ["-c", script, String(pid)], { stdio: "ignore", detached: true });
  await new Promise((resolve) => shell.once("close", resolve));
}
