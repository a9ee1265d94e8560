// The PostgreSQL and the NATS of a chaos rig, which wait for the disk, as in production: one server of each, or as many
// as an operator has who loses nothing with a machine.
import { join } from "node:path";
import { freePort } from "../../deploy/local/free-port.ts";
import { startNats } from "../../deploy/local/nats.ts";
import { findNatsServer } from "../../deploy/local/nats-binary.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
import { createSupervisor } from "../../deploy/local/process/supervisor.ts";
import { accountsOf } from "../harness/servers/broker-identities.ts";
import { clusterSize, startNatsCluster } from "../harness/servers/nats-cluster.ts";
import { startPostgresPair } from "../harness/servers/postgres-pair.ts";

export const serverNames = ["postgres", "nats"] as const;
export type ServerName = (typeof serverNames)[number];

export interface Servers {
  /** Copies of each event stream. */
  readonly streamReplicas: number;
  /** Where it is now, on loopback. */
  port(name: ServerName): number;
  /** Undefined while it is away. */
  pid(name: ServerName): number | undefined;
  /** SIGKILL; resolves when there are as many as before, with all that they had. */
  kill(name: ServerName): Promise<void>;
  stop(): Promise<void>;
}

/** For their data and for the stack's files; the caller removes both. */
export interface Folders {
  readonly home: string;
  readonly stateDir: string;
}

export type StartServers = (folders: Folders, password: string) => Promise<Servers>;

/** One server of each, which is started again. */
export const singleServers: StartServers = async ({ home, stateDir }, password) => {
  const supervisor = createSupervisor(
    () => {},
    () => {},
  );
  const ports = { postgres: await freePort(), nats: await freePort() };
  const { path: program, version } = await findNatsServer();
  const authorization = await accountsOf(stateDir);
  await supervisor.start(
    { name: "postgres", start: () => startPostgres({ home, port: ports.postgres, password, isDurable: true }) },
    {
      name: "nats",
      start: () => startNats({ program, version, storeDir: join(home, "nats"), port: ports.nats, authorization }),
    },
  );
  return {
    streamReplicas: 1,
    port: (name) => ports[name],
    pid: (name) => supervisor.pids()[name],
    kill: (name) => supervisor.kill9(name),
    stop: () => supervisor.stop(...serverNames),
  };
};

/** A primary with a synchronous standby, and three brokers. */
export const replicatedServers: StartServers = async ({ home, stateDir }, password) => {
  const [postgres, nats] = [await startPostgresPair(home, password), await startNatsCluster(home, stateDir)];
  const servers = { postgres, nats };
  return {
    streamReplicas: clusterSize,
    port: (name) => servers[name].port(),
    pid: (name) => servers[name].pid(),
    kill: (name) => (name === "postgres" ? postgres.failOver() : nats.killOne()),
    stop: async () => {
      await Promise.all([postgres.stop(), nats.stop()]);
    },
  };
};
