// Builds the image for each architecture into an archive that `docker load`, `podman load` and skopeo read. Where no
// builder answers, or it cannot build for one, the release goes without and states why.
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Source } from "./provenance.ts";

const builders = ["docker", "podman", "buildah"] as const;

/** @returns what is missing, a line each */
export function buildImages(root: string, folder: string, version: string, source: Source): string[] {
  // A client without its engine does not build.
  const builder = builders.find((each) => spawnSync(each, ["info"], { stdio: "ignore" }).status === 0);
  if (!builder) return [`images: no ${builders.join(", ")} answers here`];
  return ["amd64", "arm64"].flatMap((architecture) => {
    const archive = join(folder, `tollbooth-${version}-linux-${architecture}.tar`);
    const settings = [
      ...["--file", "deploy/image/Dockerfile", "--platform", `linux/${architecture}`, "--tag", `tollbooth:${version}`],
      ...["--build-arg", `VERSION=${version}`, "--build-arg", `REVISION=${source.commit}`],
    ];
    try {
      for (const args of commandsOf(builder, settings, archive, version, String(source.seconds)))
        execFileSync(builder, args, { cwd: root, stdio: ["ignore", "inherit", "pipe"], encoding: "utf8" });
      return [];
    } catch (error) {
      return [`image for linux/${architecture}: ${String(error).trim().split("\n").at(-1)}`];
    }
  });
}

function commandsOf(
  builder: (typeof builders)[number],
  settings: readonly string[],
  archive: string,
  version: string,
  seconds: string,
): string[][] {
  if (builder === "docker") {
    // This form has the OCI layout and the older index, which `docker load` needs.
    const output = `type=docker,dest=${archive},rewrite-timestamp=true`;
    const times = ["--build-arg", `SOURCE_DATE_EPOCH=${seconds}`];
    return [["buildx", "build", ...settings, ...times, "--provenance=false", "--output", output, "."]];
  }
  const build = ["build", "--timestamp", seconds, ...settings, "."];
  const image = `localhost/tollbooth:${version}`;
  if (builder === "podman") return [build, ["save", "--format", "oci-archive", "--output", archive, image]];
  return [build, ["push", image, `oci-archive:${archive}:tollbooth:${version}`]];
}
