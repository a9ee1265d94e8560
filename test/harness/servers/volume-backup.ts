// The scripts of components/backups-volume, run as its CronJob runs them, against an installed PostgreSQL: the npm
// packages' servers have no pg_dump, and a client must not be older than its server.
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { membersOf } from "#platform/values/unchecked.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import { type PostgresServer, startPostgres } from "../../../deploy/local/postgres.ts";
import { tempDir } from "../temp-dir.ts";

const component = join(import.meta.dirname, "../../../deploy/kubernetes/components/backups-volume");
const programs = ["postgres", "initdb", "pg_dump", "pg_restore", "psql"];
/** Folder of an installation's programs, the newest first. */
const installed = globSync("/usr/lib/postgresql/*/bin")
  .sort((one, other) => Number(other.split("/")[4]) - Number(one.split("/")[4]))
  .find((folder) => programs.every((program) => existsSync(join(folder, program))));

/** Undefined: tests of the scripts can run. */
export const missingPostgres =
  installed === undefined ? "there is no PostgreSQL server with its clients here (Debian: postgresql)" : undefined;

export interface InstalledServer extends PostgresServer {
  readonly port: number;
  readonly password: string;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
}

/** An empty server of the installation. */
export async function startInstalledPostgres(password: string): Promise<InstalledServer> {
  if (installed === undefined) throw new Error(missingPostgres);
  const [home, port] = [await tempDir("installed"), await freePort()];
  const own = { postgres: join(installed, "postgres"), initdb: join(installed, "initdb") };
  const server = await startPostgres({ home, port, password, isDurable: false, programs: own });
  return {
    ...server,
    port,
    password,
    async stop() {
      await server.stop();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export interface ScriptRun {
  readonly code: number;
  readonly output: string;
}

/**
 * @param folder the volume
 * @param own settings that differ from the manifest's
 */
export async function runBackupScript(
  script: "backup" | "restore",
  server: Pick<InstalledServer, "port">,
  { folder, passwordFile, ...own }: { folder: string; passwordFile: string; BACKUP?: string },
): Promise<ScriptRun> {
  const here = {
    BACKUPS: folder,
    PASSWORD_FILE: passwordFile,
    PGHOST: "127.0.0.1",
    PGSSLMODE: "disable",
    PGSSLROOTCERT: "",
    ...own,
  };
  const env = { PATH: `${installed}:${process.env.PATH}`, PGPORT: String(server.port), ...cronJobSettings(), ...here };
  const run = promisify(execFile)("sh", [join(component, `${script}.sh`)], { env });
  return await run.then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error) => ({ code: Number(error.code), output: `${error.stdout}${error.stderr}` }),
  );
}

/** Environment of the CronJob's container. */
export function cronJobSettings(): Record<string, string> {
  const documents = parseAllDocuments(readFileSync(join(component, "backups.yaml"), "utf8")).map((each) => each.toJS());
  const { spec } = documents.find(({ kind }) => kind === "CronJob");
  const [container] = spec.jobTemplate.spec.template.spec.containers;
  return Object.fromEntries(
    container.env.map((each: unknown) => [membersOf(each).name, String(membersOf(each).value)]),
  );
}
