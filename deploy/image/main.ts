#!/usr/local/bin/node
// The container image's entry, and `tollbooth` in its PATH: one word that names a process is that process
// (`tollbooth payments`), everything else a command of deploy/cli (`tollbooth payments show pay_…`). `warm` loads all
// of them, at the build, so that the compile cache has them; `idle` keeps a container there for commands
// (components/operator).
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

/** From the bundle, which the image has and a checkout has not. */
async function load(program: string): Promise<void> {
  const bundled = new URL(`bundle/${inBundle(program)}`, root);
  await import(existsSync(bundled) ? bundled.href : new URL(program, root).href);
}
