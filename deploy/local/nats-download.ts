// The two ways to fetch a nats-server without root: the system's package (apt checks the signature of its lists), or
// the project's release for this platform with the checksum that the same release publishes.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const releaseVersion = "2.10.27"; // the version whose features were tried; newer 2.x servers work too
const releases = "https://github.com/nats-io/nats-server/releases/download";
const commandMsMax = 120_000; // a package list is 10 MB, the package 4 MB
const archiveMsMax = 120_000;
const checksumsMsMax = 20_000;

type Fetch = (work: string, env: NodeJS.ProcessEnv, log: (line: string) => void) => Promise<string>;

/**
 * Downloads and unpacks the package of Debian and its kin; with package lists of our own where the system has none yet.
 */
export const fetchPackage: Fetch = async (work, env, log) => {
  const dir = await mkdtemp(join(work, "package-"));
  const apt = (...args: string[]) => run("apt-get", args, { cwd: dir, env, timeout: commandMsMax });
  // root's apt fetches as the user _apt, who cannot write here
  const asUs = process.getuid?.() === 0 ? ["-o", "APT::Sandbox::User=root"] : [];
  log("fetching nats-server with apt-get download");
  try {
    await apt(...asUs, "download", "nats-server");
  } catch (error) {
    if (isMissing(error)) throw new Error("there is no apt-get here");
    log("fetching package lists for nats-server with apt-get update, into a folder of our own");
    const lists = await privateLists(work);
    await apt(...asUs, ...lists, "update");
    await apt(...asUs, ...lists, "download", "nats-server");
  }
  const name = (await readdir(dir)).find((file) => file.startsWith("nats-server_") && file.endsWith(".deb"));
  if (!name) throw new Error("apt-get download brought no package");
  await run("dpkg-deb", ["-x", name, "."], { cwd: dir, env, timeout: commandMsMax });
  return join(dir, "usr/sbin/nats-server");
};

/** Options that make apt keep its lists and caches in a folder that we can write. */
async function privateLists(work: string): Promise<string[]> {
  const [lists, cache] = [join(work, "lists"), join(work, "cache")];
  await mkdir(join(lists, "partial"), { recursive: true });
  await mkdir(join(cache, "archives/partial"), { recursive: true });
  return ["-o", `Dir::State::lists=${lists}`, "-o", `Dir::Cache=${cache}`];
}

/** Downloads the project's release archive and checks it against the SHA256SUMS beside it. */
export const fetchRelease: Fetch = async (work, env, log) => {
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

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
