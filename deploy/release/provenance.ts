// The in-toto statement of a release with SLSA provenance: its files, the commit, and the packages and base images that
// it is made of. It contains no time, so a second build of a commit has the same.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Digests, digestOf } from "./checksums.ts";

/** The commit that a release is built from. */
export interface Source {
  readonly commit: string;
  /** False: files differ from the commit, so no other clone builds the same. */
  readonly isClean: boolean;
  /** The time of files in archives, in the place of the build's. */
  readonly seconds: number;
}

export function readSource(root: string): Source {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  return {
    commit: git("rev-parse", "HEAD"),
    isClean: git("status", "--porcelain") === "",
    seconds: Number(process.env.SOURCE_DATE_EPOCH ?? git("log", "-1", "--format=%ct")),
  };
}

const buildType = "urn:tollbooth:npm-run-release:v1";

export const statementTypes = {
  statement: "https://in-toto.io/Statement/v1",
  predicate: "https://slsa.dev/provenance/v1",
} as const;

/** @param repository the public address of the sources, if the clone has one */
export async function makeStatement(
  root: string,
  version: string,
  source: Source,
  repository: string | undefined,
  digests: Digests,
): Promise<string> {
  const statement = {
    _type: statementTypes.statement,
    subject: [...digests].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: statementTypes.predicate,
    predicate: {
      buildDefinition: {
        buildType,
        externalParameters: { version },
        internalParameters: { node: process.version, isClean: source.isClean },
        resolvedDependencies: [
          { name: "source", ...(repository && { uri: repository }), digest: { gitCommit: source.commit } },
          { name: "package-lock.json", digest: { sha256: await digestOf(join(root, "package-lock.json")) } },
          ...baseImages(root),
        ],
      },
      runDetails: { builder: { id: buildType } },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}

function baseImages(root: string) {
  const dockerfile = readFileSync(join(root, "deploy/image/Dockerfile"), "utf8");
  return [...dockerfile.matchAll(/^ARG \w+_IMAGE=(.+)@sha256:([0-9a-f]{64})$/gm)].map(([, name = "", sha256 = ""]) => ({
    name,
    uri: `docker://${name}`,
    digest: { sha256 },
  }));
}
