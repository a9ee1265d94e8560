// PostgreSQL and NATS of a stack: its own, started in parallel, or the user's.
import { join } from "node:path";
import type { Broker } from "#platform/events/connection.ts";
import { nkeyFile } from "#platform/secrets/nkey.ts";
import { freePort } from "./free-port.ts";
import { natsUrl, startNats } from "./nats.ts";
import { findNatsServer } from "./nats-binary.ts";
import { postgresUrl, startPostgres } from "./postgres.ts";
import type { Supervisor } from "./process/supervisor.ts";
import type { WantedStack } from "./running-stack.ts";
import { type BrokerFiles, brokerLogins } from "./state/broker-files.ts";
import type { Secrets } from "./state/secrets.ts";

export interface Servers {
  databaseUrl: string;
  /** With the login of `migrate`. */
  broker: Broker;
}

/** Starts PostgreSQL and NATS in parallel, unless the user named a server. */
export async function startServers(
  wanted: WantedStack,
  secrets: Secrets,
  files: BrokerFiles,
  supervisor: Supervisor,
  log: (line: string) => void,
): Promise<Servers> {
  const logPath = (name: string) => join(wanted.stateDir, "logs", `${name}.log`);
  const keepsParentAlive = wanted.keepsParentAlive ?? true;
  const [postgresPort, natsPort] = [await freePort(), await freePort()];
  const postgres = {
    name: "postgres",
    start: () =>
      startPostgres({
        home: wanted.stateDir,
        port: postgresPort,
        password: secrets.postgresPassword,
        isDurable: wanted.durable ?? true,
        logPath: logPath("postgres"),
        keepsParentAlive,
      }),
  };
  const nats = {
    name: "nats",
    async start() {
      const { path, version } = await findNatsServer({ log });
      const storeDir = join(wanted.stateDir, "nats");
      const authorization = await brokerLogins(files, wanted.natsNamespace);
      const natsOptions = { program: path, version, storeDir, port: natsPort, logPath: logPath("nats") };
      return startNats({ ...natsOptions, authorization, keepsParentAlive });
    },
  };
  await supervisor.start(...(wanted.databaseUrl ? [] : [postgres]), ...(wanted.natsUrl ? [] : [nats]));
  return {
    databaseUrl: wanted.databaseUrl ?? stemUrl(postgresUrl({ port: postgresPort, password: secrets.postgresPassword })),
    broker: {
      url: wanted.natsUrl ?? natsUrl({ port: natsPort }),
      ...((!wanted.natsUrl || wanted.natsKnowsUs) && { nkey: nkeyFile.parse(files.nkeys.migrate) }),
    },
  };
}

/** On our own server the databases have the default names. */
function stemUrl(serverUrl: string): string {
  return new URL("/", serverUrl).href;
}
