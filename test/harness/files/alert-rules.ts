// The alert rules, which the manifests hold for the Prometheus operator, as a rules file of Prometheus.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse, stringify } from "yaml";
import { tempDir } from "../temp-dir.ts";

const root = join(import.meta.dirname, "../../..");

/** By the name of the rules: where they are. */
export const alertManifests = {
  tollbooth: "deploy/kubernetes/components/monitoring/prometheus-rule.yaml",
  "tollbooth-servers": "deploy/kubernetes/components/monitoring-servers/prometheus-rule.yaml",
  "tollbooth-backups": "deploy/kubernetes/components/monitoring-backups/prometheus-rule.yaml",
} as const;

/** The rules that docs/operate.md gives operators without Kubernetes: everything below `spec:`. */
export function alertRules(name: keyof typeof alertManifests): string {
  const manifest = readFileSync(join(root, alertManifests[name]), "utf8");
  return manifest.slice(manifest.indexOf("\nspec:\n") + "\nspec:\n".length).replace(/^ {2}/gm, "");
}

interface AlertCase {
  readonly eval_time: string;
  /** Of the firing alert, as PromQL has them. */
  readonly labels: string;
  /** Values by series. */
  readonly fires: Readonly<Record<string, string>>;
  readonly silent: Readonly<Record<string, string>>;
}

/** By the alert, from deploy/alerts. */
export function alertCases(name: keyof typeof alertManifests): Readonly<Record<string, AlertCase>> {
  return parse(readFileSync(join(root, `deploy/alerts/${name}.test.yaml`), "utf8"));
}

/** Plays the cases of deploy/alerts to the rules. @throws when one does not hold */
export async function testAlertRules(name: keyof typeof alertManifests): Promise<void> {
  const tests = Object.entries(alertCases(name)).flatMap(([alert, { eval_time, labels, fires, silent }]) => {
    const firing = `ALERTS{alertname="${alert}", alertstate="firing"`;
    const test = (outcome: string, values: AlertCase["fires"], samples: readonly object[]) => ({
      name: `${alert} ${outcome}`,
      interval: "1m",
      input_series: Object.entries(values).map(([series, each]) => ({ series, values: each })),
      promql_expr_test: [{ expr: `${firing}}`, eval_time, exp_samples: samples }],
    });
    const fired = { labels: `${firing}, ${labels}}`, value: 1 };
    return [test("fires", fires, [fired]), test("is silent", silent, [])];
  });
  const dir = await tempDir("alert-rules");
  await writeFile(join(dir, "rules.yaml"), alertRules(name));
  const cases = { rule_files: ["rules.yaml"], evaluation_interval: "1m", tests };
  await writeFile(join(dir, "cases.yaml"), stringify(cases));
  await promisify(execFile)("promtool", ["test", "rules", "cases.yaml"], { cwd: dir });
  await rm(dir, { recursive: true });
}
