// That alarms ring: a real Prometheus reads a running stack with the project's own rules in fast motion, something goes
// wrong, and the alert for it fires. Before that: every series that rules and dashboards ask for is there, so that none
// is silent for want of a sample.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import { parse } from "yaml";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { databaseUrlOf } from "../../deploy/local/databases.ts";
import { endsRinging, rings, runDrill } from "../chaos/alarms/drill.ts";
import { storeOf } from "../chaos/alarms/event-drills.ts";
import { type AlarmRig, root, rulesText, startAlarmRig } from "../chaos/alarms/rig.ts";
import { drilledAlerts, drillOf } from "../chaos/alarms/scenes.ts";
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

test("books that differ for the first time, one call with a token that nobody knows and a job that fails again and again and a console that is away ring, and end", async () => {
  const alerts = ["TollboothMoneyInvariant", "TollboothCallerRefused", "TollboothJobLate", "TollboothConsoleAway"];
  await Promise.all(alerts.map((alert) => runDrill(rig, drillOf(alert))));
});

test("a broker that hangs rings: nothing is published, and buyers pay as ever", async () => {
  await runDrill(rig, drillOf("TollboothBrokerAway"));
});

test("a service whose processes are gone rings under its name; a broker whose store is gone with orders that nobody was told of rings; and every merchant is told of each once, by time alone", async () => {
  const { running, receiver, sql } = rig;
  await running.halt("webhook");
  await rings(rig, "TollboothServiceAway");
  const away = await rig.prometheus.query('ALERTS{alertname="TollboothServiceAway",alertstate="firing"}');
  assert.deepEqual(
    away.map(({ metric }) => metric.service),
    ["webhook"],
    "under its name",
  );
  const paid = [await rig.paid(), await rig.paid(), await rig.paid()];
  const events = async () => {
    const rows = await sql<{ body: Buffer; published: boolean }>(
      "payments",
      "select body, published_at is not null as published from outbox where subject like '%.payment.succeeded'",
    );
    const all = rows.map(({ body, published }) => ({ ...fromBinary(EventSchema, body), published }));
    return all.filter(({ objectId }) => paid.includes(objectId));
  };
  await eventually("the orders to be announced", async () => {
    const found = await events();
    return found.every(({ published }) => published) && paid.every((id) => found.some((one) => one.objectId === id));
  });
  await rings(rig, "TollboothEventsUntaken");
  await running.halt("nats");
  await rm(storeOf(running.stack.tls.ca), { recursive: true });
  await running.resume("nats");
  await rings(rig, "TollboothEventsLost");
  await running.resume("webhook");
  paid.push(await rig.paid());
  const told = () =>
    receiver.received.filter(({ body, headers }) => {
      const { payment_id: id } = JSON.parse(body.toString());
      return paid.includes(id) && headers["service-event"] === "payment.succeeded";
    });
  await eventually("every event to be told", async () => told().length >= (await events()).length);
  for (const alert of ["TollboothEventsUntaken", "TollboothServiceAway"]) await endsRinging(rig, alert);
  const deliveries = new Set(told().map(({ headers }) => headers["service-delivery"]));
  assert.equal(told().length, deliveries.size, "no delivery twice");
  assert.equal(deliveries.size, (await events()).length, "one delivery for each event");
  const env = { ...process.env, DATABASE_URL: databaseUrlOf(running.stack.database, "payments") };
  await run(process.execPath, ["deploy/cli/main.ts", "journal", "check"], { cwd: root, env });
});

suited.run();
