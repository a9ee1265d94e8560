// The command line of a container engine, Docker's or Podman's, where one answers: for what tests do as an operator
// does, by commands.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { dockerEngine } from "./docker.ts";

/** Runs a command of the engine and answers with what it printed. @throws with its output */
export type ContainerCli = (args: readonly string[], limitMs?: number) => Promise<string>;

const answerMsMax = 10_000;
const pullMsMax = 60_000;

/** @returns undefined where no engine answers */
export async function containerCli(): Promise<ContainerCli | undefined> {
  const engine = await dockerEngine();
  const env = engine === undefined ? process.env : { ...process.env, DOCKER_HOST: engine };
  for (const program of ["docker", "podman"]) {
    const cli: ContainerCli = async (args, limitMs = answerMsMax) => {
      const limits = { env, timeout: limitMs, maxBuffer: 32 * 1024 * 1024 };
      const { stdout } = await promisify(execFile)(program, args, limits);
      return stdout.trim();
    };
    if (await works(cli(["ps", "--quiet"]))) return cli;
  }
  return undefined;
}

/** The images that a Dockerfile starts from, by the defaults of its arguments. */
export function baseImages(dockerfile: string): string[] {
  return [...readFileSync(dockerfile, "utf8").matchAll(/^ARG \w+_IMAGE=(\S+)$/gm)].map(([, image = ""]) => image);
}

/** Pulls what is missing. @returns the images that are neither here nor to be had */
export async function missingImages(cli: ContainerCli, images: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const image of images) {
    if (await works(cli(["image", "inspect", image]))) continue;
    if (!(await works(cli(["pull", "--quiet", image], pullMsMax)))) missing.push(image);
  }
  return missing;
}

function works(attempt: Promise<unknown>): Promise<boolean> {
  return attempt.then(
    () => true,
    () => false,
  );
}
