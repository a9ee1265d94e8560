// That alarms can ring: promtool plays recorded series to every rule, and a real Prometheus that reads a running stack
// finds every series that rules and dashboards ask for. `npm run prove -- alarms` rings each on a stack that fails.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { type AlarmRig, root, rulesText, startAlarmRig } from "../chaos/alarms/rig.ts";
import { drilledAlerts } from "../chaos/alarms/scenes.ts";
import { eventually } from "../harness/eventually.ts";
import { readPanels } from "../harness/files/dashboards.ts";
import { missingPrometheus } from "../harness/servers/prometheus.ts";
import { suite } from "../harness/suite.ts";

/** Beside which connections that are open are looked after. */
const run = promisify(execFile);
const suited = suite("alarms", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const test = (guarantee: string, body: () => Promise<void>) =>
  missingPrometheus === undefined ? suited(guarantee, body) : suited.skip(guarantee, missingPrometheus);

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
const rules: readonly Rule[] = parse(rulesText).groups.flatMap((group: { rules: Rule[] }) => group.rules);

let rig: AlarmRig;

suited.before(async () => {
  if (missingPrometheus === undefined) rig = await startAlarmRig();
});
suited.after(() => rig?.stop());

test("every rule has a case of promtool's that fires it and one that does not, and all of them hold", async () => {
  const { tests }: { tests: Case[] } = parse(readFileSync(join(root, "deploy/alerts/tollbooth.test.yaml"), "utf8"));
  const cases = tests.map(({ name, promql_expr_test: [{ expr, exp_samples } = { expr: "", exp_samples: [] }] }) => {
    const alert = /alertname="(\w+)"/.exec(expr)?.[1] ?? "";
    assert.equal(name, `${alert} ${exp_samples.length > 0 ? "fires" : "is silent"}`);
    return name;
  });
  assert.deepEqual(cases.sort(), rules.flatMap(({ alert }) => [`${alert} fires`, `${alert} is silent`]).sort());
  await run("promtool", ["test", "rules", "deploy/alerts/tollbooth.test.yaml"], { cwd: root });
});

interface Case {
  readonly name: string;
  readonly promql_expr_test: readonly { expr: string; exp_samples: unknown[] }[];
}

suited("every alert has a drill that makes it ring on a running stack, and only one", () => {
  assert.deepEqual(drilledAlerts().sort(), rules.map(({ alert }) => alert).sort());
});

test("on a system that works no alert rings, and every series that a rule or a panel asks for has samples", async () => {
  const { shop, receiver, prometheus } = rig;
  await rig.listen();
  const id = await rig.paid();
  (await shop.post(`/v1/payments/${id}/refunds`, { amount: 50 })).expect(201);
  await receiver.waitFor(({ headers }) => headers["service-event"] === "payment.succeeded");
  const missing = async () => {
    const names = [rulesText, ...ownPanels().map(({ expr }) => expr)].flatMap((text) => text.match(metricNames) ?? []);
    const asked = [...new Set(names)];
    const there = await Promise.all(asked.map(async (name) => (await prometheus.query(`count(${name})`)).length > 0));
    return asked.filter((_name, i) => !there[i]);
  };
  // What nothing of the above brings about: a session that went to another account.
  const unseen = ["tollbooth_connector_failovers_total"];
  await eventually("every series to be there", async () => {
    assert.deepEqual(
      (await missing()).filter((name) => !unseen.includes(name)),
      [],
    );
    return true;
  });
  // What counts a rise must be seen at 0 first: one is enough, and the first one is the one that matters.
  for (const { alert, expr } of rules) {
    for (const [, counter = ""] of expr.matchAll(/increase\(([^[]+)\[/g)) {
      assert.ok(
        (await prometheus.query(counter)).length > 0,
        `${alert}: nothing is told of ${counter} before it rises`,
      );
    }
  }
  const empty = async () => {
    const asked = ownPanels().filter(({ expr }) => !unseen.some((name) => expr.includes(name)));
    const answers = await Promise.all(asked.map(({ expr }) => prometheus.query(expr)));
    return asked.filter((_panel, i) => answers[i]?.length === 0).map(({ title }) => title);
  };
  await eventually("every panel to have samples", async () => {
    const ofErrors = ["Public errors by code", "Public answers, share of 5xx", "Internal failures by reason"];
    const missing = (await empty()).filter((title) => !ofErrors.includes(title));
    assert.deepEqual(missing, []);
    return true;
  });
  assert.deepEqual([...(await prometheus.firing())], []);
});

const metricNames = /\b(?:tollbooth|nodejs|process)_[a-z0-9_]+/g;

/** Those that ask for what our processes tell; the servers' are held against their exporters' documentation. */
function ownPanels() {
  const asked = readPanels().flatMap(({ title, exprs }) => exprs.map((expr) => ({ title, expr })));
  return asked.filter(({ expr }) => /\b(?:tollbooth|nodejs|process)_/.test(expr));
}

suited.run();
