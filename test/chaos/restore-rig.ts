// A whole stack whose services' databases can be copied and go back to the copy, while the processor, the merchant's
// receiver and, unless it is lost too, the broker go on from where they were.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { withDatabase } from "../../deploy/local/databases.ts";
import { eventually } from "../harness/eventually.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { type MoneyRig, startMoneyRig } from "./money-rig.ts";

/** Whose databases are copied. */
export const services = ["merchant", "payments", "checkout", "webhook"] as const;
export type Service = (typeof services)[number];

export interface RestoreRig extends MoneyRig {
  /** Where `npm run tollbooth` finds it. */
  readonly stateDir: string;
  databaseOf(service: Service): string;
  /**
   * Copies each service's database at a moment of its own, in the given order, as backups of four servers are. The
   * service is away meanwhile.
   */
  copy(order: readonly Service[]): Promise<void>;
  /**
   * Stops everything of ours, puts the copies in place, and starts it again. @param withoutBroker it loses all that it
   * has
   */
  goBack(withoutBroker: boolean): Promise<void>;
}

const clientPauseMs = 15_000;

export async function startRestoreRig(): Promise<RestoreRig> {
  const stateDir = await tempDir("restore");
  const money = await startMoneyRig({ ownServers: true, stateDir, env: { LOG_LEVEL: "error" } });
  const { running } = money;
  const stem = decodeURIComponent(new URL(running.stack.database).pathname.slice(1));
  const of = (service: Service) => `${stem}_${service}`;
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
  /** Somebody who looks into it, as this process does, is in the way for a moment. */
  const alone = (name: string, statement: string) =>
    eventually(
      `nobody to be in ${name}`,
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
    async copy(order) {
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
