// Alerts on PostgreSQL, its backups, volumes and certificates, which a local stack cannot fire: their cases under
// promtool, their metrics, their runbooks.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { alertCases, alertManifests, alertRules, testAlertRules } from "../harness/files/alert-rules.ts";
import { readPanels } from "../harness/files/dashboards.ts";
import { missingPrometheus } from "../harness/servers/prometheus.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("alerts of the servers");
const textOf = (file: string) => readFileSync(join(root, file), "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook_url: string };
}

const names = ["tollbooth-servers", "tollbooth-backups"] as const;
const rulesOf = (name: (typeof names)[number]) => {
  const { groups }: { groups: { rules: Rule[] }[] } = parse(alertRules(name));
  return groups.flatMap((group) => group.rules);
};
const rules = names.flatMap(rulesOf);

for (const name of names) {
  test(`${name}: every rule has a firing and a silent case`, () => {
    const alerts = rulesOf(name).map(({ alert }) => alert);
    assert.deepEqual(Object.keys(alertCases(name)).sort(), alerts.sort());
  });

  const passes = `${name}: all cases pass under promtool`;
  if (missingPrometheus === undefined) test(passes, () => testAlertRules(name));
  else test.skip(passes, missingPrometheus);
}

/** A volume that loses so much a minute, and the alert's annotation after ten hours. */
async function testFullIn(lossPerMinute: number, expected: string): Promise<void> {
  const dir = await tempDir("full-in");
  const of = '{namespace="tollbooth",persistentvolumeclaim="data-nats-0"}';
  const labels = { severity: "ticket", persistentvolumeclaim: "data-nats-0" };
  const values = { available: `3600-${lossPerMinute}x600`, capacity: "20000x600" };
  const series = Object.entries(values).map(([name, each]) => ({
    ...{ series: `kubelet_volume_stats_${name}_bytes${of}`, values: each },
  }));
  const left = (3_600 - 600 * lossPerMinute) / 20_000;
  const annotations = {
    summary: `Volume data-nats-0 has ${100 * left}% left.`,
    full_in: expected,
    runbook_url: "deploy/runbooks/volume-filling.md",
  };
  const alert = { eval_time: "10h", alertname: "TollboothVolumeFilling" };
  const wanted = { ...alert, exp_alerts: [{ exp_labels: labels, exp_annotations: annotations }] };
  const tests = [{ interval: "1m", input_series: series, alert_rule_test: [wanted] }];
  await writeFile(join(dir, "rules.yaml"), alertRules("tollbooth-servers"));
  await writeFile(join(dir, "cases.yaml"), stringify({ rule_files: ["rules.yaml"], tests }));
  execFileSync("promtool", ["test", "rules", "cases.yaml"], { cwd: dir, encoding: "utf8" });
  await rm(dir, { recursive: true });
}

const fullIn = "the alert on a filling volume shows how long the rest lasts at the present rate";
if (missingPrometheus === undefined) {
  test(fullIn, async () => {
    await testFullIn(1, "2d 2h 0m 0s");
    await testFullIn(0, "not filling now");
  });
} else test.skip(fullIn, missingPrometheus);

test("docs/operate.md has the command that makes a rules file for a Prometheus outside Kubernetes", () => {
  const [command = ""] = /^sed .*$/m.exec(textOf("docs/operate.md")) ?? [];
  assert.ok(command.includes(` ${alertManifests.tollbooth} > `), command);
  const made = execFileSync("sh", ["-c", command.replace(/ > .*/, "")], { cwd: root, encoding: "utf8" });
  assert.equal(made, alertRules("tollbooth"));
});

test("every rule is a page or a ticket and has a runbook with impact, steps and end", () => {
  assert.ok(rules.length > 10);
  for (const { alert, labels, annotations } of rules) {
    assert.match(labels.severity, /^(page|ticket)$/, alert);
    const page = textOf(annotations.runbook_url);
    assert.equal(page.split("\n")[0], `# ${alert}`);
    for (const heading of ["**Impact.**", "**What to do**", "**Over when**"]) assert.ok(page.includes(heading), alert);
    for (const [, other = ""] of page.matchAll(/\]\(([a-z-]+\.md)\)/g)) textOf(`deploy/runbooks/${other}`);
  }
});

/** Metrics of the exporters: CloudNativePG's default queries, the backup plugin, the kubelet, cert-manager. */
const exporterMetrics = new Set([
  "cnpg_backends_total",
  "cnpg_pg_database_xid_age",
  "cnpg_pg_replication_in_recovery",
  "cnpg_pg_replication_lag",
  "cnpg_pg_replication_slots_pg_wal_lsn_diff",
  "cnpg_pg_replication_streaming_replicas",
  "cnpg_pg_settings_setting",
  "cnpg_pg_stat_archiver_last_archived_time",
  "cnpg_pg_stat_archiver_last_failed_time",
  "barman_cloud_cloudnative_pg_io_last_available_backup_timestamp",
  "kubelet_volume_stats_available_bytes",
  "kubelet_volume_stats_capacity_bytes",
  "certmanager_certificate_expiration_timestamp_seconds",
]);

/** Further metrics of the panels: kube-state-metrics and the kubelet's cAdvisor. */
const podMetrics = [
  "container_cpu_usage_seconds_total",
  "container_memory_working_set_bytes",
  "kube_pod_container_resource_limits",
  "kube_pod_container_status_restarts_total",
];

/** Of kube-state-metrics. */
const cronJobMetrics = ["kube_cronjob_created", "kube_cronjob_status_last_successful_time"];

const metricsIn = (expr: string) =>
  expr.replaceAll(/by \([a-z_, ]+\)/g, "").match(/\b[a-z]+_[a-z0-9_]+(?=[{)\s[]|$)/g) ?? [];

test("rules use only metrics that their exporters document", () => {
  const queried = (name: (typeof names)[number]) => [...new Set(rulesOf(name).flatMap(({ expr }) => metricsIn(expr)))];
  assert.deepEqual(queried("tollbooth-servers").sort(), [...exporterMetrics].sort());
  assert.deepEqual(queried("tollbooth-backups").sort(), cronJobMetrics);
});

test("the servers' dashboard shows all of them and the pods, and only exported metrics", () => {
  const exprs = readPanels().flatMap((panel) => (panel.dashboard === "servers" ? panel.exprs : []));
  const ofOthers = exprs.flatMap(metricsIn).filter((name) => !name.startsWith("tollbooth_"));
  assert.deepEqual([...new Set(ofOthers)].sort(), [...exporterMetrics, ...podMetrics].sort());
});

test.run();
