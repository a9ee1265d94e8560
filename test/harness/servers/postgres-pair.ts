// A PostgreSQL primary with a streaming standby: the primary is killed, the standby is promoted, and a new standby is
// made from it.
import { execFile } from "node:child_process";
import { appendFile, chown, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "../../../deploy/local/free-port.ts";
import { type PostgresServer, startPostgres } from "../../../deploy/local/postgres.ts";
import { eventually } from "../eventually.ts";

export interface PostgresPair {
  /** Of the primary of now. */
  port(): number;
  /** Process of the primary of now. */
  pid(): number;
  /** The standby receives no more: what is committed from now on is lost with a primary that does not wait for it. */
  detach(): Promise<void>;
  /** Kills the primary with SIGKILL and promotes the standby; resolves when that has a standby again. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

interface Server extends PostgresServer {
  readonly port: number;
  readonly home: string;
}

const run = promisify(execFile);
const standbyName = "standby";
// Enough of the primary's log for a standby that is being made.
const settings = { wal_keep_size: "512MB" };
const promoteSeconds = 30;
const standbys = "select state, sync_state from pg_stat_replication";

/**
 * @param home folder for the data of the servers, which the caller removes.
 * @param isSynchronous whether a commit is answered when it is on both.
 */
export async function startPostgresPair(home: string, password: string, isSynchronous = true): Promise<PostgresPair> {
  let made = 0;
  const serverOptions = async () => ({
    home: join(home, `server-${made++}`),
    port: await freePort(),
    password,
    isDurable: true,
  });
  const standbyOf = async (primary: Server): Promise<Server> => {
    const own = await serverOptions();
    const { port } = primary;
    const source = `host=127.0.0.1 port=${port} user=postgres password=${password} application_name=${standbyName}`;
    const fill = async (data: string) => {
      await copyServer(primary, data);
      // In a file, since a value from the command line could not be changed at run time.
      await appendFile(join(data, "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`);
    };
    const server = await startPostgres({ ...own, settings, fill });
    if (isSynchronous) await waitForBoth(primary);
    await awaitStandby(primary, isSynchronous ? "sync" : "async");
    return { ...server, ...own };
  };
  const first = await serverOptions();
  let primary: Server = { ...(await startPostgres({ ...first, settings })), ...first };
  let standby = await standbyOf(primary);
  return {
    port: () => primary.port,
    pid: () => primary.pid,
    async detach() {
      await ask(standby, "alter system set primary_conninfo = ''");
      await ask(standby, "select pg_reload_conf()");
      await eventually("the standby to be gone", async () => (await ask(primary, standbys)).length === 0);
    },
    async failOver() {
      const lost = primary;
      process.kill(lost.pid, "SIGKILL");
      await lost.exited;
      await ask(standby, `select pg_promote(true, ${promoteSeconds})`);
      primary = standby;
      await rm(lost.home, { recursive: true, force: true, maxRetries: 5 });
      standby = await standbyOf(primary);
    },
    async stop() {
      await standby.stop();
      await primary.stop();
    },
  };
}

/** From here on no commit is answered before it is on both. */
async function waitForBoth(primary: Server): Promise<void> {
  await ask(primary, `alter system set synchronous_standby_names = '${standbyName}'`);
  await ask(primary, "select pg_reload_conf()");
}

async function awaitStandby(primary: Server, state: "sync" | "async"): Promise<void> {
  await eventually(`a standby that is ${state}`, async () => {
    const [row] = await ask<{ sync_state: string; state: string }>(primary, standbys);
    return row?.state === "streaming" && row.sync_state === state;
  });
}

/** As pg_basebackup does it, which is not among the programs that come from npm. */
async function copyServer(from: Server, data: string): Promise<void> {
  const client = await connected(from);
  try {
    // A copy that is promoted has no standby of its own yet, and waits for none.
    await client.query("alter system reset synchronous_standby_names");
    await client.query("select pg_backup_start('standby', true)");
    const { rows: directories } = await client.query<{ data_directory: string }>("show data_directory");
    await copyFolder(directories[0]?.data_directory ?? "", data);
    const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop(false)");
    await writeAsOwner(data, "backup_label", rows[0]?.labelfile ?? "");
  } finally {
    await client.end();
  }
  await rm(join(data, "postmaster.pid"), { force: true });
  await writeAsOwner(data, "standby.signal", "");
}

/** For the server's user, which is another one than ours where we are root. */
async function writeAsOwner(data: string, name: string, text: string): Promise<void> {
  const { uid, gid } = await stat(data);
  await writeFile(join(data, name), text);
  await chown(join(data, name), uid, gid);
}

/** Keeps owners and rights; ignores files that vanish during the copy. */
async function copyFolder(from: string, to: string): Promise<void> {
  await run("cp", ["-a", from, to]).catch((error: Error & { stderr?: string }) => {
    const complaints = (error.stderr ?? error.message).trim().split("\n");
    if (!complaints.every((line) => line.includes("No such file or directory"))) throw error;
  });
}

async function ask<Row>(server: Server, statement: string): Promise<Row[]> {
  const client = await connected(server);
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

async function connected({ url }: Server): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}
