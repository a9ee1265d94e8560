// Every alert can fire and be silent: promtool applies its rule to recorded series. `npm run prove -- alarms` fires
// each on a running stack under a real Prometheus.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { root, rulesText } from "../chaos/alarms/rig.ts";
import { drilledAlerts } from "../chaos/alarms/scenes.ts";
import { testAlertRules } from "../harness/files/alert-rules.ts";
import { missingPrometheus } from "../harness/servers/prometheus.ts";
import { suite } from "../harness/suite.ts";

const suited = suite("alarms", { timeoutMs: 240_000 }); // promtool plays every rule in every case: a minute
const test = (guarantee: string, body: () => Promise<void>) =>
  missingPrometheus === undefined ? suited(guarantee, body) : suited.skip(guarantee, missingPrometheus);

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
const rules: readonly Rule[] = parse(rulesText).groups.flatMap((group: { rules: Rule[] }) => group.rules);

test("every rule has a firing and a silent case, and all pass under promtool", async () => {
  const { tests }: { tests: Case[] } = parse(readFileSync(join(root, "deploy/alerts/tollbooth.test.yaml"), "utf8"));
  const cases = tests.map(({ name, promql_expr_test: [{ expr, exp_samples } = { expr: "", exp_samples: [] }] }) => {
    const alert = /alertname="(\w+)"/.exec(expr)?.[1] ?? "";
    assert.equal(name, `${alert} ${exp_samples.length > 0 ? "fires" : "is silent"}`);
    return name;
  });
  assert.deepEqual(cases.sort(), rules.flatMap(({ alert }) => [`${alert} fires`, `${alert} is silent`]).sort());
  await testAlertRules("tollbooth");
});

interface Case {
  readonly name: string;
  readonly promql_expr_test: readonly { expr: string; exp_samples: unknown[] }[];
}

suited("every alert has a drill that makes it ring on a running stack, and only one", () => {
  assert.deepEqual(drilledAlerts().sort(), rules.map(({ alert }) => alert).sort());
});

suited.run();
