// A money rig that can be disturbed: PostgreSQL and NATS are its own, and the ways of clients to the gateway and of the
// services to both servers lead over links that can be cut.
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { streamName } from "#platform/events/streams.ts";
import { connect } from "#platform/values/nats.ts";
import { withDatabase } from "../../deploy/local/databases.ts";
import { natsUrl } from "../../deploy/local/nats.ts";
import { postgresUrl } from "../../deploy/local/postgres.ts";
import type { Source } from "../../services/services.ts";
import { apiClient } from "../harness/api.ts";
import { refuseWrites } from "../harness/files/read-only.ts";
import { drillServer } from "../harness/servers/broker-identities.ts";
import { processOf } from "../harness/stack.ts";
import { tempDir } from "../harness/temp-dir.ts";
import type { Component, Link } from "./disturbance.ts";
import { type BadLink, openLink } from "./link.ts";
import { startMoneyRig } from "./money-rig.ts";
import { type ServerName, type StartServers, serverNames, singleServers } from "./servers.ts";
import { keyedApi } from "./shop.ts";
import { startOutside, type WideRig, widenRig } from "./wide-rig.ts";

export interface ChaosRig extends WideRig {
  /** SIGKILL; resolves when its successor is ready. @returns false when the part is away already */
  kill(component: Component): Promise<boolean>;
  /** SIGSTOP to it and its children, SIGCONT after the time, also when this process is gone by then. */
  freeze(component: Component, forMs: number): Promise<boolean>;
  /** Does something to all open connections of a link. @returns false when there were none */
  spoil(link: Link, how: "cut" | "break" | "hole" | "half", forMs: number): Promise<boolean>;
  /** The broker loses a service's stream with all that is in it. @returns false when there was none */
  loseStream(source: Source): Promise<boolean>;
  /** Payments' database takes no writes for the time. */
  refuseWrites(forMs: number): Promise<boolean>;
}

const password = "chaos";
// As the stack names its streams.
const streamNamespace = "tollbooth";

/** @param env of the stack's processes, over the rig's own. */
export async function startChaosRig(
  env: Record<string, string> = {},
  startServers: StartServers = singleServers,
): Promise<ChaosRig> {
  const [home, stateDir] = [await tempDir("chaos"), await tempDir("money")];
  const servers = await startServers({ home, stateDir }, password);
  const opened: BadLink[] = [];
  const open = async (port: () => number) => {
    const link = await openLink(port);
    opened.push(link);
    return link;
  };
  const close = async () => {
    await Promise.all(opened.map((link) => link.close()));
    await servers.stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    const [postgres, nats] = [await open(() => servers.port("postgres")), await open(() => servers.port("nats"))];
    const outside = await startOutside();
    const money = await startMoneyRig({
      ownServers: true, // those that are given here
      databaseUrl: withDatabase(postgresUrl({ port: postgres.port, password }), "chaos"),
      natsUrl: natsUrl({ port: nats.port }),
      natsKnowsUs: true,
      stateDir,
      streamReplicas: servers.streamReplicas,
      env: {
        LOG_LEVEL: "warn",
        WEBHOOK_RETRY_BASE_MS: "300",
        WEBHOOK_RETRY_CAP_MS: "2000",
        NATS_REPLICAS: String(servers.streamReplicas),
        ...outside.env,
        ...env,
      },
      clocks: outside.clocks,
      shape: outside.shape,
    });
    const { stack } = money.running;
    const gateway = await open(() => Number(new URL(stack.gateway).port));
    const links = { postgres, nats, gateway };
    const front = `http://127.0.0.1:${gateway.port}`;
    const rig = await widenRig(money, outside, front);
    const direct = () => withDatabase(postgresUrl({ port: servers.port("postgres"), password }), "chaos_payments");
    const nameOf = (component: Component) => processOf(outside.shape, component);
    const pidOf = (component: Component) =>
      isServer(component) ? servers.pid(component) : stack.pids[nameOf(component)];
    return {
      ...rig,
      merchant: keyedApi(front, rig.shops[0]?.key ?? { secret: stack.api_key }),
      buyer: apiClient(front),
      async kill(component) {
        if (pidOf(component) === undefined) return false;
        await (isServer(component) ? servers.kill(component) : rig.running.kill9(nameOf(component)));
        return true;
      },
      async freeze(component, forMs) {
        const pid = pidOf(component);
        if (pid !== undefined) await stopAndContinue(pid, forMs);
        return pid !== undefined;
      },
      async spoil(name, how, forMs) {
        const link = links[name];
        if (how === "cut") return link.cut() > 0;
        if (how === "break") return link.breakAnswers() > 0;
        return (await (how === "hole" ? link.blackHole(forMs) : link.halfOpen(forMs))) > 0;
      },
      // A session keeps its settings from its start: connections are cut before and after.
      refuseWrites: (forMs) => refuseWrites(direct(), forMs, () => postgres.cut()),
      loseStream: (source) => deleteStream(servers.port("nats"), streamName(streamNamespace, source)),
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

/** Uses the server's own credentials. @returns false when there is no stream, or the broker is unavailable */
async function deleteStream(port: number, name: string): Promise<boolean> {
  try {
    const connection = await connect({ ...drillServer(port), timeout: 1_000 });
    const manager = await connection.jetstreamManager({ timeout: 1_000 });
    return await manager.streams.delete(name).finally(() => connection.close());
  } catch {
    return false;
  }
}

function isServer(component: Component): component is ServerName {
  return serverNames.some((name) => name === component);
}

/** By a shell, which outlives us: a frozen process could not notice that it has to end with us. */
async function stopAndContinue(pid: number, forMs: number): Promise<void> {
  // The parent first: it must not have further children meanwhile.
  const script = `kill -STOP $0; kids=$(cat /proc/$0/task/$0/children 2>/dev/null); kill -STOP $kids 2>/dev/null
    sleep ${forMs / 1_000}; kill -CONT $0 $kids 2>/dev/null`;
  const shell = spawn("/bin/sh", ["-c", script, String(pid)], { stdio: "ignore", detached: true });
  await new Promise((resolve) => shell.once("close", resolve));
}
