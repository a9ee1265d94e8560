// A whole stack whose services' databases can go back to an earlier state, while the processor, the receiver and, if it
// is not lost too, the broker go on: to copies, with all of ours stopped, to a standby that takes over from a killed
// primary without its last commits, under services that run on, or to an empty server that a backup is restored into.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { createDatabases, databaseNameOf, withDatabase } from "../../deploy/local/databases.ts";
import { freePort } from "../../deploy/local/free-port.ts";
import { postgresUrl, startPostgres } from "../../deploy/local/postgres.ts";
import { stackSecrets } from "../../deploy/local/state/secrets.ts";
import { eventually } from "../harness/eventually.ts";
import { startPostgresPair } from "../harness/servers/postgres-pair.ts";
import { runBackupScript, startInstalledPostgres } from "../harness/servers/volume-backup.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { openLink } from "./link.ts";
import { type MoneyRig, startMoneyRig } from "./money-rig.ts";

/** Services whose databases are copied. */
export const services = ["merchant", "payments", "checkout", "webhook"] as const;
export type Service = (typeof services)[number];

export interface RestoreRig extends MoneyRig {
  /** Where `npm run tollbooth` finds it. */
  readonly stateDir: string;
  databaseOf(service: Service): string;
  /**
   * Where the databases will go back to. Copies are of each at a moment of its own, in the given order, as backups of
   * four servers are, and the service is away meanwhile; dumps are made under traffic.
   */
  keep(order: readonly Service[]): Promise<void>;
  /** @param withoutBroker it loses all that it has */
  goBack(withoutBroker: boolean): Promise<void>;
}

const clientPauseMs = 15_000;

const env = { LOG_LEVEL: "error" };
const password = "restore";

export async function startRestoreRig(): Promise<RestoreRig> {
  const stateDir = await tempDir("restore");
  const money = await startMoneyRig({ ownServers: true, stateDir, env });
  const { running } = money;
  const of = (service: Service) => databaseNameOf(money.running.stack.database, service);
  const copyOf = (service: Service) => `${of(service)}_copy`;
  const ask = async (statement: string) => {
    const client = new pg.Client({ connectionString: withDatabase(running.stack.database, "postgres") });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  /** Other connections, such as those of this process, block the statement for a moment. */
  const alone = (name: string, statement: string) =>
    eventually(
      `no connection to ${name}`,
      async () => {
        await ask(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
        return await ask(statement).then(() => true);
      },
      { limitMs: clientPauseMs },
    );
  return {
    ...money,
    stateDir,
    databaseOf: (service) => withDatabase(running.stack.database, of(service)),
    async keep(order) {
      for (const service of order) {
        await running.halt(service);
        await alone(of(service), `create database "${copyOf(service)}" template "${of(service)}"`);
        await running.resume(service);
      }
    },
    async goBack(withoutBroker) {
      await running.halt("gateway", ...services);
      for (const service of services) {
        await alone(of(service), `drop database "${of(service)}"`);
        await ask(`alter database "${copyOf(service)}" rename to "${of(service)}"`);
      }
      if (withoutBroker) {
        await running.halt("nats");
        await rm(join(stateDir, "nats"), { recursive: true, force: true });
        await running.resume("nats");
      }
      for (const name of [...services, "gateway"]) await running.resume(name);
    },
  };
}

/** With an asynchronous standby. The broker is never lost, and the processor has its own server. */
export async function startStandbyRig(): Promise<RestoreRig> {
  const [stateDir, home] = [await tempDir("restore"), await tempDir("standby")];
  const processor = await startPostgres({ home, port: await freePort(), password, isDurable: false });
  const pair = await startPostgresPair(home, password, false);
  const link = await openLink(() => pair.port());
  const close = async () => {
    await link.close();
    await pair.stop();
    await processor.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const databaseUrl = withDatabase(postgresUrl({ port: link.port, password }), "standby");
    const money = await startMoneyRig({
      ownServers: true,
      databaseUrl,
      processorDatabase: processor.url,
      stateDir,
      env,
    });
    return {
      ...money,
      stateDir,
      databaseOf: (service) => withDatabase(databaseUrl, databaseNameOf(money.running.stack.database, service)),
      keep: () => pair.detach(),
      goBack: () => pair.failOver(),
      async stop() {
        await money.stop();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * With the scripts of components/backups-volume: the backup is made under traffic, and the server that it is restored
 * into has only empty databases and roles, as a new one of components/postgres. The processor has its own server.
 */
export async function startBackupRig(): Promise<RestoreRig> {
  const [stateDir, home] = [await tempDir("restore"), await tempDir("backups")];
  const volume = { folder: join(home, "volume"), passwordFile: join(home, "password") };
  await mkdir(volume.folder);
  await writeFile(volume.passwordFile, password);
  const processor = await startPostgres({ home, port: await freePort(), password, isDurable: false });
  let server = await startInstalledPostgres(password);
  const link = await openLink(() => server.port);
  const close = async () => {
    await link.close();
    await server.stop();
    await processor.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  const runScript = async (script: "backup" | "restore") => {
    const { code, output } = await runBackupScript(script, server, volume);
    if (code !== 0) throw new Error(`${script}.sh: ${output}`);
  };
  try {
    // The name that the scripts expect.
    const databaseUrl = withDatabase(postgresUrl({ port: link.port, password }), "tollbooth");
    const money = await startMoneyRig({
      ownServers: true,
      databaseUrl,
      processorDatabase: processor.url,
      stateDir,
      env,
    });
    const { running } = money;
    return {
      ...money,
      stateDir,
      databaseOf: (service) => withDatabase(databaseUrl, databaseNameOf(running.stack.database, service)),
      keep: () => runScript("backup"),
      async goBack() {
        await running.halt("gateway", ...services);
        const lost = server;
        server = await startInstalledPostgres(password);
        await lost.stop();
        await createDatabases(databaseUrl, (await stackSecrets(stateDir)).servicePassword);
        await runScript("restore");
        for (const name of [...services, "gateway"]) await running.resume(name);
      },
      async stop() {
        await money.stop();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
