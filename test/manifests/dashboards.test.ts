// Dashboards draw the thresholds of the alerts that they name.
import assert from "node:assert/strict";
import { parse } from "yaml";
import { alertRules } from "../harness/files/alert-rules.ts";
import { type Panel, readPanels } from "../harness/files/dashboards.ts";
import { suite } from "../harness/suite.ts";

const test = suite("dashboards");

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
const rules: readonly Rule[] = (["tollbooth", "tollbooth-servers"] as const).flatMap((name) => {
  const { groups } = parse(alertRules(name));
  return groups.flatMap((group: { rules: Rule[] }) => group.rules);
});
const panels = readPanels();

/** The alerts that a panel names. */
const alertsOf = ({ description }: Panel) => description.match(/Tollbooth\w+/g) ?? [];

/** The rule's threshold as Grafana colours it: from this value. `> 0` and `!= 0` begin at 1 for whole numbers. */
function thresholdsOf({ expr }: Rule): number[] {
  const compared = expr.replaceAll(/\{[^}]*\}/g, "").matchAll(/ (>|<|==) ([\d.]+(?: [*^] [\d.]+)*)/g);
  return [...compared].map(([, , sum = ""]) => product(sum) || 1);
}

function product(sum: string): number {
  return sum.split(" * ").reduce((result, factor) => {
    const [base, power = 1] = factor.split(" ^ ").map(Number);
    return result * (base ?? Number.NaN) ** power;
  }, 1);
}

test("a panel that names an alert draws its threshold on the firing side", () => {
  const named = panels.filter((panel) => alertsOf(panel).length > 0);
  assert.ok(named.length > 20);
  for (const panel of named) {
    for (const alert of alertsOf(panel)) {
      const rule = rules.find((one) => one.alert === alert) ?? assert.fail(`${panel.title}: there is no ${alert}`);
      const [low, high] = panel.steps;
      assert.equal(low?.value, null, panel.title);
      const isNear = thresholdsOf(rule).some((value) => Math.abs(value - (high?.value ?? Number.NaN)) < value * 1e-9);
      assert.ok(isNear, `${panel.title} changes at ${high?.value}, ${alert} at ${thresholdsOf(rule)}`);
      const ringsBelow = / (<|==) [\d.]/.test(rule.expr);
      assert.deepEqual([low?.color, high?.color], ringsBelow ? ["red", "green"] : ["green", "red"], panel.title);
    }
  }
});

test.run();
