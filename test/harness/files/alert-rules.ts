// The alert rules, which the manifests hold for the Prometheus operator, as a rules file of Prometheus.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { copyFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { tempDir } from "../temp-dir.ts";

const root = join(import.meta.dirname, "../../..");

/** By the name of the rules: where they are. */
export const alertManifests = {
  tollbooth: "deploy/kubernetes/components/monitoring/prometheus-rule.yaml",
  "tollbooth-servers": "deploy/kubernetes/components/monitoring-servers/prometheus-rule.yaml",
} as const;

/** The rules that docs/operate.md gives operators without Kubernetes: everything below `spec:`. */
export function alertRules(name: keyof typeof alertManifests): string {
  const manifest = readFileSync(join(root, alertManifests[name]), "utf8");
  return manifest.slice(manifest.indexOf("\nspec:\n") + "\nspec:\n".length).replace(/^ {2}/gm, "");
}

/** Plays the cases of deploy/alerts to the rules. @throws when one does not hold */
export async function testAlertRules(name: keyof typeof alertManifests): Promise<void> {
  const dir = await tempDir("alert-rules");
  const cases = `${name}.test.yaml`;
  await writeFile(join(dir, `${name}.yaml`), alertRules(name));
  await copyFile(join(root, "deploy/alerts", cases), join(dir, cases));
  await promisify(execFile)("promtool", ["test", "rules", cases], { cwd: dir });
  await rm(dir, { recursive: true });
}
