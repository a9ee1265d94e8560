// That alarms ring: a real Prometheus reads a running stack with the project's own rules in fast motion, something goes wrong, and the
// alert for it fires. Before that: every series that rules and dashboards ask for is there, so that none is silent for want of a sample.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { parse } from "yaml";
import { connectPeer } from "#platform/rpc-client.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import type { RunningStack } from "../deploy/local/running-stack.ts";
import { type Api, merchantApi } from "./harness/api.ts";
import { eventually } from "./harness/eventually.ts";
import { pay } from "./harness/pay.ts";
import { inFastMotion, missingPrometheus, type Prometheus, startPrometheus } from "./harness/prometheus.ts";
import { type Receiver, startReceiver } from "./harness/receiver.ts";
import { startTestStack } from "./harness/stack.ts";
import { suite } from "./harness/suite.ts";

const suited = suite("alarms", { timeoutMs: 120_000 });
const test = (guarantee: string, body: () => Promise<void>) =>
  missingPrometheus === undefined ? suited(guarantee, body) : suited.skip(guarantee, missingPrometheus);

const root = join(import.meta.dirname, "..");
const rulesFile = join(root, "deploy/alerts/tollbooth.yaml");
const rulesText = readFileSync(rulesFile, "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
const rules: readonly Rule[] = parse(rulesText).groups.flatMap((group: { rules: Rule[] }) => group.rules);

let running: RunningStack;
let prometheus: Prometheus;
let receiver: Receiver;
let shop: Api;
let payments: pg.Client;

suited.before(async () => {
  if (missingPrometheus !== undefined) return;
  running = await startTestStack({ ownServers: true });
  shop = merchantApi(running.stack.gateway, running.stack.api_key);
  receiver = await startReceiver(running.stack.tls);
  payments = new pg.Client({ connectionString: databaseOf("payments") });
  await payments.connect();
  prometheus = await startPrometheus(running.stack.admin, inFastMotion(rulesText));
});
suited.after(async () => {
  await prometheus?.stop();
  await payments?.end();
  await receiver?.close();
  await running?.stop();
});

function databaseOf(service: string): string {
  const url = new URL(running.stack.database);
  url.pathname += `_${service}`;
  return url.href;
}

const rings = (alert: string) =>
  eventually(`${alert} to fire`, async () => (await prometheus.firing()).has(alert), { limitMs: 60_000, everyMs: 250 });
const endsRinging = (alert: string) =>
  eventually(`${alert} to end`, async () => !(await prometheus.firing()).has(alert), { limitMs: 60_000, everyMs: 250 });

const order = { amount: 1_050, currency: "EUR" };

async function paidPayment(): Promise<string> {
  const made = (await shop.post("/v1/checkout-sessions", order)).expect(201);
  await pay(made.text("render.frame_url"));
  const confirm = `/v1/checkout/${made.text("id")}/confirm?secret=${made.text("session_secret")}`;
  return (await shop.post(confirm)).expect(200).text("payment_id");
}

test("every rule has a case of promtool's that fires it and one that does not, and all of them hold", async () => {
  const { tests }: { tests: Case[] } = parse(readFileSync(join(root, "deploy/alerts/tollbooth.test.yaml"), "utf8"));
  const cases = tests.map(({ name, promql_expr_test: [{ expr, exp_samples } = { expr: "", exp_samples: [] }] }) => {
    const alert = /alertname="(\w+)"/.exec(expr)?.[1] ?? "";
    assert.equal(name, `${alert} ${exp_samples.length > 0 ? "fires" : "is silent"}`);
    return name;
  });
  assert.deepEqual(cases.sort(), rules.flatMap(({ alert }) => [`${alert} fires`, `${alert} is silent`]).sort());
  execFileSync("promtool", ["test", "rules", "deploy/alerts/tollbooth.test.yaml"], { cwd: root, stdio: "pipe" });
});

interface Case {
  readonly name: string;
  readonly promql_expr_test: readonly { expr: string; exp_samples: unknown[] }[];
}

test("on a system that works no alert rings, and every series that a rule or a panel asks for has samples", async () => {
  const endpoint = { url: receiver.url, event_types: ["payment.succeeded"] };
  (await shop.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
  const id = await paidPayment();
  (await shop.post(`/v1/payments/${id}/refunds`, { amount: 50 })).expect(201);
  await receiver.waitFor(({ headers }) => headers["service-event"] === "payment.succeeded");
  const missing = async () => {
    const names = [rulesText, ...dashboardTexts()].flatMap((text) => text.match(metricNames) ?? []);
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
    const asked = panels().filter(({ expr }) => !unseen.some((name) => expr.includes(name)));
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

function dashboardTexts(): string[] {
  const folder = join(root, "deploy/dashboards");
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.map((name) => readFileSync(join(folder, name), "utf8"));
}

function panels(): { title: string; expr: string }[] {
  return dashboardTexts().flatMap((text) => {
    const { panels }: { panels: { title: string; targets?: { expr: string }[] }[] } = JSON.parse(text);
    return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
  });
}

test("books that differ for the first time ring for money", async () => {
  const id = await paidPayment();
  await payments.query("update payments set fee_amount = fee_amount + 1 where id = $1", [id]);
  await payments.query("update journal_check set after_id = '', due_at = now()");
  await rings("TollboothMoneyInvariant");
  await payments.query("update payments set fee_amount = fee_amount - 1 where id = $1", [id]);
});

test("one call with a token that nobody knows rings", async () => {
  const stranger = connectPeer({ url: running.stack.rpc.payments, token: "of a stranger" });
  try {
    await assert.rejects(stranger.client(PaymentsService).getPayment({ paymentId: "pay_1" }));
  } finally {
    stranger.close();
  }
  await rings("TollboothCallerRefused");
});

test("a job that fails again and again rings, and stops when it works", async () => {
  await payments.query("alter table journal_check rename to journal_check_gone");
  try {
    await rings("TollboothJobLate");
  } finally {
    await payments.query("alter table journal_check_gone rename to journal_check");
  }
  await endsRinging("TollboothJobLate");
});

test("a broker that hangs rings: nothing is published, and who needs it is not ready", async () => {
  const broker = running.stack.pids.nats ?? assert.fail("the stack has a broker of its own");
  process.kill(broker, "SIGSTOP");
  try {
    await rings("TollboothBrokerAway");
    const id = (await shop.post("/v1/checkout-sessions", order, { "idempotency-key": "while the broker hangs" }))
      .status;
    assert.ok(id > 0);
    await rings("TollboothOutboxLag");
  } finally {
    process.kill(broker, "SIGCONT");
  }
  for (const alert of ["TollboothBrokerAway", "TollboothOutboxLag", "TollboothServiceAway"]) await endsRinging(alert);
});

test("a service whose processes are gone rings under its name", async () => {
  await running.halt("webhook");
  try {
    await rings("TollboothServiceAway");
    const away = await prometheus.query('ALERTS{alertname="TollboothServiceAway",alertstate="firing"}');
    assert.deepEqual(
      away.map(({ metric }) => metric.service),
      ["webhook"],
    );
  } finally {
    await running.resume("webhook");
  }
  await endsRinging("TollboothServiceAway");
});

suited.run();
