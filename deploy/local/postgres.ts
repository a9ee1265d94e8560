// Starts the npm packages' PostgreSQL on a folder: created on first use, recovered after a kill, also as root.
// It listens on loopback only and asks every TCP client for the password.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { findPostgres, type PostgresPrograms, type ServerUser } from "./postgres-binaries.ts";
import { openLogFile } from "./process/log-file.ts";
import { endLeftover } from "./process/process-table.ts";
import type { RunningProcess } from "./process/running-process.ts";
import { runServer } from "./process/server-process.ts";

const run = promisify(execFile);
const leftoverMsMax = 10_000; // a fast shutdown writes a checkpoint
const initMsMax = 120_000; // takes 0.4 s on an idle machine
/** Six processes with pools of ten, and the pools of test files; an idle connection costs 2 MB. */
const connectionsMax = 200;

export interface PostgresOptions {
  /** Parent of the folder `postgres`; created if missing. */
  home: string;
  port: number;
  /** Of the superuser `postgres`; set when the folder is created, later ones must be equal. */
  password: string;
  /** False: no fsync, for throw-away test data. */
  isDurable: boolean;
  /** Server settings that override ours. */
  settings?: Readonly<Record<string, string>>;
  /** Fills a new data folder in place of initdb: a standby copies its primary. */
  fill?: (data: string) => Promise<void>;
  logPath?: string;
  keepsParentAlive?: boolean;
  /** Of another installation; absent: the npm packages'. */
  programs?: PostgresPrograms;
}

export interface PostgresServer extends RunningProcess {
  /** URL of the superuser, database `postgres`. */
  url: string;
}

/** Resolves when the server accepts connections. */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const user = await serverUser();
  const programs = options.programs ?? (await findPostgres(user));
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
  const set = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = await runServer({
    name: "postgres",
    program: programs.postgres,
    args: ["-D", data, "-p", String(options.port), ...set],
    env: environment,
    readyText: options.fill ? "ready to accept" : "ready to accept connections",
    stopSignal: "SIGINT", // "fast": ends sessions, writes a checkpoint
    ...user,
    log: options.logPath === undefined ? undefined : openLogFile(options.logPath),
    keepsParentAlive: options.keepsParentAlive,
  });
  return { ...server, url: postgresUrl(options) };
}

export function postgresUrl({ port, password }: Pick<PostgresOptions, "port" | "password">): string {
  return `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
}

/** Sort order and messages must not depend on the user's locale. */
const environment = { PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC" };

/** PostgreSQL refuses to run as root: then it runs as `postgres`, or `nobody`, which every system has. */
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
 * The folder that holds the data: the given one, or one under /var/tmp if the server's user cannot reach it (root's
 * closed home). The file `postgres.location` in the given folder then keeps its path.
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
  const unfinished = `${data}.new`; // renamed when complete: a first start may be killed half-way
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

/** Two servers on one folder would destroy it: the survivor of a killed stack must stop first. */
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
