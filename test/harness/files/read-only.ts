// A database that answers and takes no writes, as after a failover by halves.
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { eventually } from "../eventually.ts";

/** The server itself may be killed meanwhile; writes must be taken again whatever happens. */
const backMsMax = 120_000;

/**
 * @param url of the database, over an undisturbed connection. @param reconnect makes all clients reconnect
 * @returns false when the server is unavailable
 */
export async function refuseWrites(url: string, forMs: number, reconnect: () => unknown): Promise<boolean> {
  const name = new URL(url).pathname.slice(1);
  const set = (value: "on" | "off") => run(url, `alter database ${name} set default_transaction_read_only = ${value}`);
  try {
    await set("on");
  } catch {
    return false;
  }
  await reconnect();
  await pause(forMs);
  const isBack = async () => {
    await set("off");
    return true;
  };
  await eventually("the database to take writes again", isBack, { limitMs: backMsMax, everyMs: 200 });
  await reconnect();
  return true;
}

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 2_000 });
  client.on("error", () => {}); // the server is killed now and then
  try {
    await client.connect();
    // Our own session may have begun read-only.
    await client.query("set default_transaction_read_only = off");
    await client.query(statement);
  } finally {
    await client.end().catch(() => {});
  }
}
