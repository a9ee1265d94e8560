#!/usr/local/bin/node
// Entry of the container image, and `tollbooth` in its PATH: a process name runs that process (`tollbooth payments`),
// all other arguments run deploy/cli (`tollbooth payments show pay_…`). `warm` loads everything when the image is
// built, to fill the compile cache; `idle` keeps a container running for commands (components/operator).
import { existsSync } from "node:fs";
import { imageParts, inBundle, processPrograms } from "../bundle/programs.ts";

const processes: Readonly<Record<string, string>> = processPrograms;
const root = new URL("../../", import.meta.url);
const dayMs = 86_400_000;

const [name = "", ...rest] = process.argv.slice(2);
const started = rest.length === 0 ? processes[name] : undefined;
if (started !== undefined) {
  await load(started);
} else if (name === "warm") {
  for (const program of imageParts) await load(program);
} else if (name === "idle") {
  setInterval(() => {}, dayMs);
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => process.exit(0));
  console.log("waiting for commands: kubectl exec deploy/operator -c app -- tollbooth --help");
} else {
  await load("deploy/cli/main.ts");
}

/** From the bundle, which exists in the image only. */
async function load(program: string): Promise<void> {
  const bundled = new URL(`bundle/${inBundle(program)}`, root);
  await import(existsSync(bundled) ? bundled.href : new URL(program, root).href);
}
