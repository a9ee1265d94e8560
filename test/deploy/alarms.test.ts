// Every alert can fire and be silent: promtool applies its rule to recorded series. `npm run prove -- alarms` fires
// each on a running stack under a real Prometheus.
import assert from "node:assert/strict";
import { parse } from "yaml";
import { rulesText } from "../chaos/alarms/rig.ts";
import { drilledAlerts } from "../chaos/alarms/scenes.ts";
import { alertCases, testAlertRules } from "../harness/files/alert-rules.ts";
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
  assert.deepEqual(Object.keys(alertCases("tollbooth")).sort(), rules.map(({ alert }) => alert).sort());
  await testAlertRules("tollbooth");
});

suited("every alert has a drill that makes it ring on a running stack, and only one", () => {
  assert.deepEqual(drilledAlerts().sort(), rules.map(({ alert }) => alert).sort());
});

suited.run();
