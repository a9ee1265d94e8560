// `npm run release`: writes everything that an installation of this version is made of, with sums, provenance and a
// signature. `tollbooth release verify` checks it. Two builds of one commit have the same files, images apart.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve } from "node:path";
import { releaseVersion } from "#platform/values/release.ts";
import { ensureBuilt } from "../generate/output.ts";
import { endWithUsageError, parseOptions, printHelpIfRequested } from "../local/options.ts";
import { packSdk } from "../pack/browser-sdk.ts";
import { packNodeClient } from "../pack/node-client.ts";
import { packPythonClient } from "../pack/python-client.ts";
import { repositoryOf } from "../pack/repository.ts";
import { packRpcClient } from "../pack/rpc-client.ts";
import { makeChart } from "./chart.ts";
import { digestsOf, formatSums, signatureName, statementName, sumsName } from "./checksums.ts";
import { buildImages } from "./image-archives.ts";
import { hasKubectl, releaseOverlays, renderManifests } from "./overlay-rendering.ts";
import { makeStatement, readSource, type Source } from "./provenance.ts";
import { makeSbom } from "./sbom.ts";
import { readSigningKey, signText } from "./signature.ts";
import { tarGzipOf } from "./tar-archive.ts";

const usage = `npm run release -- [--out <folder>] [--key <file>] [--without-image]

Writes release/<version>, or the folder: image archives for amd64 and arm64 (with Docker, Podman or Buildah), rendered
manifests and a Helm chart (with kubectl), compose files, the libraries, SBOMs, provenance and SHA256SUMS, signed with
the ECDSA or Ed25519 key of the PEM file. Without a key it is not signed.`;

const root = join(import.meta.dirname, "../..");

printHelpIfRequested(usage);
const { values } = parseOptions({
  options: { out: { type: "string" }, key: { type: "string" }, "without-image": { type: "boolean" } },
});
const version = releaseVersion();
const folder = resolve(values.out ?? join(root, "release", version));
if (!existsSync(join(root, ".git")))
  endWithUsageError("a release is built in a git clone: its provenance names a commit");
if (existsSync(folder) && !existsSync(join(folder, sumsName)) && readdirSync(folder).length > 0)
  endWithUsageError(`${folder} has files, and is no release that this one could replace`);
process.umask(0o022); // npm packs the modes of files
const fresh = `${folder}.unfinished`;
rmSync(fresh, { recursive: true, force: true });
const key = values.key === undefined ? undefined : keyOf(values.key);
await release(readSource(root));

function keyOf(file: string) {
  try {
    return readSigningKey(file);
  } catch (error) {
    return endWithUsageError(error instanceof Error ? error.message : String(error));
  }
}

async function release(source: Source): Promise<void> {
  if (!source.isClean) console.log("files differ from the commit: the provenance marks this release as not clean");
  const missing = await writeParts(source);
  const repository = repositoryOf(root, ".").repository?.url;
  const statement = await makeStatement(root, version, source, repository, await digestsOf(fresh, []));
  write([[statementName, statement]]);
  const sums = Buffer.from(formatSums(await digestsOf(fresh, [])));
  write([[sumsName, sums], ...(key ? [[signatureName, signText(sums, key)] as const] : [])]);
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  for (const each of missing) console.log(`missing: ${each}`);
  if (!key) console.log("not signed: --key <file> signs SHA256SUMS");
  const shown = relative(process.cwd(), folder);
  console.log(
    `\nwrote ${shown}; next: npm run tollbooth -- release verify ${shown}${key ? " --key <public key>" : ""}`,
  );
}

/** @returns what could not be made here, a line each */
async function writeParts(source: Source): Promise<string[]> {
  const missing: string[] = [];
  if (hasKubectl()) {
    console.log("manifests and Helm chart");
    const manifests = new Map(releaseOverlays.map((overlay) => [overlay, renderManifests(overlay)]));
    write([...manifests].map(([overlay, text]) => [`manifests-${overlay}.yaml`, text]));
    const chart = [...makeChart(version, manifests)];
    write(chart.map(([path, text]) => [`chart/${path}`, text]));
    const packed = new Map(chart.map(([path, text]) => [`tollbooth/${path}`, text]));
    write([[`tollbooth-${version}.tgz`, tarGzipOf(packed, source.seconds)]]);
  } else missing.push("manifests and Helm chart: there is no kubectl here");
  write(composeFiles().map((path) => [path, readFileSync(join(root, path))]));
  console.log("libraries");
  await Promise.all([ensureBuilt("web"), ensureBuilt("clients")]);
  for (const pack of [packSdk, packNodeClient, packPythonClient, packRpcClient]) await pack(join(fresh, "libraries"));
  console.log("bills of materials");
  for (const format of ["spdx", "cyclonedx"] as const) write([[`sbom.${format}.json`, makeSbom(root, format, source)]]);
  if (values["without-image"]) return [...missing, "images: left out by --without-image"];
  console.log("images");
  return [...missing, ...buildImages(root, fresh, version, source)];
}

/** At the same paths as in the project, with the files that their containers mount. */
function composeFiles(): string[] {
  const composed = ["deploy/image/compose.yaml", "deploy/image/compose-small.yaml"];
  const mounted = composed.flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(/^ +- (\.\.?\/[\w./-]+):/gm)].map(([, file = ""]) =>
      posix.join(dirname(path), file),
    ),
  );
  return [...composed, ...new Set(mounted)];
}

function write(files: readonly (readonly [path: string, content: string | Uint8Array])[]): void {
  for (const [path, content] of files) {
    mkdirSync(dirname(join(fresh, path)), { recursive: true });
    writeFileSync(join(fresh, path), content);
  }
}
