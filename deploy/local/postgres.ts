// Starts a PostgreSQL server from npm on a folder of ours: made on first use, recovered after a kill, also when we are
// root. The server listens on loopback only and asks every TCP client for the password.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { findPostgres, type ServerUser } from "./postgres-binaries.ts";
import { openLogFile } from "./process/log-file.ts";
import { endLeftover } from "./process/process-table.ts";
import type { RunningProcess } from "./process/running-process.ts";
import { runServer } from "./process/server-process.ts";

const run = promisify(execFile);
const leftoverMsMax = 10_000; // a fast shutdown writes a checkpoint
const initMsMax = 120_000; // 0.4 s here; the bound is for a machine in trouble
/** Six processes with pools of ten, and test files that open their own; each idle connection costs 2 MB. */
const connectionsMax = 200;

/** What a server is started with. */
export interface PostgresOptions {
  /** Holds the folder `postgres`; made if missing. */
  home: string;
  port: number;
  /** Of the superuser `postgres`; counts when the folder is made, later ones must be the same. */
  password: string;
  /** False: no fsync, for throw-away test data. */
  isDurable: boolean;
  /** Settings of the server besides, which win. */
  settings?: Readonly<Record<string, string>>;
  /** Fills the folder of a new server in place of an empty database: for a standby, which copies another one. */
  fill?: (data: string) => Promise<void>;
  logPath?: string;
  keepsParentAlive?: boolean;
}

/** A running server with its address. */
export interface PostgresServer extends RunningProcess {
  /** `postgres://` URL of the superuser, database `postgres`. */
  url: string;
}

/** Starts the server and waits until it accepts connections. */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const user = await serverUser();
  const programs = await findPostgres(user);
  const holder = await reachableHolder(resolve(options.home), user);
  const data = join(holder, "postgres");
  if (!(await exists(join(data, "PG_VERSION"))))
    await (options.fill?.(data) ?? initialise(programs.initdb, holder, data, options.password, user));
  await endLeftoverOf(data);
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: String(connectionsMax),
    ...(options.isDurable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
    ...options.settings,
  };
  const server = await runServer({
    name: "postgres",
    program: programs.postgres,
    args: [
      "-D",
      data,
      "-p",
      String(options.port),
      ...Object.entries(settings).flatMap(([k, v]) => ["-c", `${k}=${v}`]),
    ],
    env: environment,
    readyText: options.fill ? "ready to accept" : "ready to accept connections",
    stopSignal: "SIGINT", // "fast": ends sessions, writes a checkpoint
    ...user,
    ...(options.logPath === undefined ? {} : { log: openLogFile(options.logPath) }),
    ...(options.keepsParentAlive === undefined ? {} : { keepsParentAlive: options.keepsParentAlive }),
  });
  return { ...server, url: postgresUrl(options) };
}

/** Where the superuser will find the server. */
export function postgresUrl({ port, password }: Pick<PostgresOptions, "port" | "password">): string {
  return `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
}

/** The same on every machine: sort order and messages do not follow the user's locale. */
const environment = { PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC" };

/** PostgreSQL refuses to run as root: then it is `postgres`, else `nobody`, which every system has. */
async function serverUser(): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    try {
      const ask = async (what: string) => Number((await run("id", [what, name])).stdout);
      return { uid: await ask("-u"), gid: await ask("-g") };
    } catch {
      // not on this system
    }
  }
  throw new Error("running as root, and there is neither a user `postgres` nor `nobody` to run PostgreSQL as");
}

/**
 * The folder that holds the data: the given one, or, when the server's user cannot reach it (root's closed home), one
 * under /var/tmp whose path is kept in the file `postgres.location` of the given one.
 */
async function reachableHolder(home: string, user: ServerUser): Promise<string> {
  await mkdir(home, { recursive: true });
  if (user.uid === undefined || (await canEnter(home, user))) return home;
  const pointer = join(home, "postgres.location");
  const known = (await readFile(pointer, "utf8").catch(() => "")).trim();
  if (known !== "" && (await exists(known))) return known;
  const holder = await mkdtemp("/var/tmp/tollbooth-");
  await chmod(holder, 0o711);
  await writeFile(pointer, `${holder}\n`);
  return holder;
}

async function canEnter(folder: string, user: ServerUser): Promise<boolean> {
  const attempt = run("/bin/sh", ["-c", 'cd "$0"', folder], { ...user, cwd: "/" });
  return attempt.then(
    () => true,
    () => false,
  );
}

async function initialise(
  initdb: string,
  holder: string,
  data: string,
  password: string,
  user: ServerUser,
): Promise<void> {
  const unfinished = `${data}.new`; // gets its name when it is whole: a first start may be killed half-way
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  const passwordFile = join(holder, `postgres-password-${randomBytes(8).toString("hex")}`);
  await writeFile(passwordFile, password, { mode: 0o600, flag: "wx" });
  if (user.uid !== undefined && user.gid !== undefined) {
    await chown(unfinished, user.uid, user.gid);
    await chown(passwordFile, user.uid, user.gid);
  }
  const options = [
    "--username=postgres",
    "--auth-local=trust",
    "--auth-host=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
  ];
  try {
    await run(initdb, ["-D", unfinished, `--pwfile=${passwordFile}`, ...options, "--no-sync", "--no-instructions"], {
      ...user,
      cwd: "/",
      env: environment,
      timeout: initMsMax,
    });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(unfinished, data);
}

/** Two servers on one folder would destroy it: the survivor of a killed stack is stopped first. */
async function endLeftoverOf(data: string): Promise<void> {
  const [pid] = (await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  await endLeftover(Number(pid), data, "SIGINT", leftoverMsMax);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
