// Three NATS servers in a cluster, each with a copy of every stream, as the production manifests run them. One at a
// time is killed and comes back with what it had stored.
import { join } from "node:path";
import { copiesOf } from "#platform/events/streams.ts";
import { connect, type StreamInfo } from "#platform/values/nats.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import { type NatsServer, startNats } from "../../../deploy/local/nats.ts";
import { findNatsServer } from "../../../deploy/local/nats-binary.ts";
import { eventually } from "../eventually.ts";
import { accountsOf, drillServer } from "./broker-identities.ts";

export interface NatsCluster {
  /** Of a server that runs. */
  port(): number;
  /** Process of the server that `port` names. */
  pid(): number;
  /** Processes of the others that run. */
  otherPids(): number[];
  /** Kills the server that `port` names with SIGKILL; resolves when it is back and every stream has all its copies. */
  killOne(): Promise<void>;
  stop(): Promise<void>;
}

export const clusterSize = 3;

interface Member {
  readonly name: string;
  readonly port: number;
  readonly storeDir: string;
  server: NatsServer | undefined;
}

/**
 * @param home folder for the stores, which the caller removes
 * @param stateDir of the stack whose identities they know
 */
export async function startNatsCluster(home: string, stateDir: string): Promise<NatsCluster> {
  const { path: program } = await findNatsServer();
  const authorization = await accountsOf(stateDir);
  const names = Array.from({ length: clusterSize }, (_, i) => `nats-${i}`);
  const routes = await Promise.all(names.map(() => freePort()));
  const start = ({ name, port, storeDir }: Member) => {
    const config = clusterConfig(name, routes[names.indexOf(name)] ?? 0, routes);
    return startNats({ program, storeDir, port, authorization, config });
  };
  const members: Member[] = [];
  for (const name of names)
    members.push({ name, port: await freePort(), storeDir: join(home, name), server: undefined });
  await Promise.all(members.map(async (member) => (member.server = await start(member))));
  let turn = 0;
  const current = () => {
    const running = members.filter(({ server }) => server !== undefined);
    const member = running[turn % running.length];
    if (!member?.server) throw new Error("no NATS server runs");
    return { ...member, server: member.server };
  };
  await eventually("the brokers to have a leader", () => allCopies(current().port), { everyMs: 200 });
  return {
    port: () => current().port,
    pid: () => current().server.pid,
    otherPids: () => {
      const pids = members.flatMap(({ server }) => server?.pid ?? []);
      return pids.filter((pid) => pid !== current().server.pid);
    },
    async killOne() {
      const { name, server } = current();
      const member = members.find((one) => one.name === name);
      if (!member) throw new Error("no such member");
      process.kill(server.pid, "SIGKILL");
      member.server = undefined;
      turn += 1;
      await server.exited;
      member.server = await start(member);
      await eventually("every stream to have all its copies", () => allCopies(current().port), { everyMs: 200 });
    },
    async stop() {
      await Promise.all(members.map(({ server }) => server?.stop()));
    },
  };
}

function clusterConfig(name: string, port: number, routes: readonly number[]): string {
  const others = routes.map((route) => `nats://127.0.0.1:${route}`).join(", ");
  return `server_name: ${name}\ncluster { name: tollbooth, listen: "127.0.0.1:${port}", routes: [${others}] }\n`;
}

async function allCopies(port: number): Promise<boolean> {
  const connection = await connect({ ...drillServer(port), timeout: 2_000 });
  try {
    const manager = await connection.jetstreamManager({ timeout: 2_000 });
    const streams: StreamInfo[] = await manager.streams.list().next();
    return streams.every((stream) => {
      const { wanted, current } = copiesOf(stream);
      return wanted === current;
    });
  } finally {
    await connection.close();
  }
}
