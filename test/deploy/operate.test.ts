// Operators' view and actions on a running stack: traces, metrics, commands over the internal API, rotation of tokens
// under load and of encryption keys, and that no secret is written anywhere.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { parse } from "yaml";
import { Database } from "#platform/database/database.ts";
import { callerLine } from "#platform/secrets/callers.ts";
import { randomToken, Vault } from "#platform/secrets/vault.ts";
import { readKeyAges } from "#platform/service/encryption-keys.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { releaseVersion } from "#platform/values/release.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { reencryptColumn } from "../../deploy/cli/setup/reencrypt-column.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { writePrivate } from "../../deploy/local/state/private-file.ts";
import { durableConsumers, sealedColumns, sources } from "../../services/services.ts";
import { type Api, merchantApi } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { alertManifests, alertRules } from "../harness/files/alert-rules.ts";
import { payInFrame } from "../harness/pay.ts";
import { type Receiver, startReceiver } from "../harness/receiver.ts";
import { type Collector, startCollector } from "../harness/servers/otlp-collector.ts";
import { startTestStack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const test = suite("operations", { timeoutMs: 180_000 });
/** Sealed columns that the set-up does not fill. */
const unused = [
  // No person of this stack has an authenticator app or gets mail.
  "merchant.mails.sealed",
  "merchant.authenticators.secret",
  "merchant.authenticators.pending",
  // Filled while the outcome of a payment by token is in doubt.
  "payments.operations.sealed_order",
  "merchant.idempotency_keys.answer",
  "webhook.idempotency_keys.answer",
  "webhook.endpoints.previous_secret",
  "webhook.earlier_secrets.secret",
];
let running: RunningStack;
let collector: Collector;
let receiver: Receiver;
let shop: Api;
let stateDir: string;
let session: { id: string; secret: string };
/** Secrets that must not be written anywhere, by kind. */
const secrets = new Map<string, string>();
const traceId = randomBytes(16).toString("hex");

test.before(async () => {
  collector = await startCollector();
  running = await startTestStack({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  stateDir = dirname(dirname(running.stack.tls.ca));
  shop = merchantApi(running.stack.gateway, running.stack.api_key);
  receiver = await startReceiver(running.stack.tls);
  session = await paidSession();
});
test.after(async () => {
  await receiver?.close();
  await running?.stop();
  collector?.close();
});

/** The main job: a session, paid and confirmed, with a webhook endpoint. */
async function paidSession(): Promise<{ id: string; secret: string }> {
  const endpoint = { url: receiver.url, event_types: ["payment.succeeded"] };
  const hook = (await shop.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
  const order = { amount: 1050, currency: "EUR", customer_email: "ada.secret@example.com" };
  const made = (await shop.post("/v1/checkout-sessions", order, { "idempotency-key": "first" })).expect(201);
  assert.equal((await payInFrame(made.text("render.frame_url"))).text("status"), "succeeded");
  const [id, secret] = [made.text("id"), made.text("session_secret")];
  const traceparent = `00-${traceId}-${randomBytes(8).toString("hex")}-01`;
  const confirm = `/v1/checkout/${id}/confirm?secret=${secret}`;
  const confirmed = (await shop.post(confirm, undefined, { traceparent })).expect(200);
  const refunds = `/v1/payments/${confirmed.text("payment_id")}/refunds`;
  (await shop.post(refunds, { amount: 50 }, { "idempotency-key": "first" })).expect(201);
  await receiver.waitFor(({ headers }) => headers["service-event"] === "payment.succeeded");
  secrets
    .set("session secret", secret)
    .set("signing secret", hook.text("signing_secret"))
    .set("e-mail", order.customer_email);
  secrets.set("client secret", decodeURIComponent(new URL(made.text("render.frame_url")).hash.slice(1)));
  return { id, secret };
}

test("the main job is one trace, from the public request through rpc, SQL, processor and event to the webhook attempt", async () => {
  const wanted = [
    ["tollbooth-gateway", "POST /v1/checkout/:id/confirm"],
    ["tollbooth-gateway", "checkout.v1.CheckoutService/ConfirmSession"],
    ["tollbooth-checkout", "checkout.v1.CheckoutService/ConfirmSession"],
    ["tollbooth-payments", "payments.v1.PaymentsService/VerifyIntent"],
    ["tollbooth-payments", "processor GET"],
    ["tollbooth-payments", "sql select"],
    ["tollbooth-payments", "publish"],
    ["tollbooth-webhook", "webhook-fan-out process"],
    ["tollbooth-webhook", "webhook attempt"],
  ];
  const own = () => collector.spans.filter((span) => span.traceId === traceId);
  const missing = () =>
    wanted.filter(([service, name]) => !own().some((span) => span.service === service && span.name === name));
  await eventually("every part of the trace", () => missing().length === 0 || assert.fail(String(missing())));
  const ids = new Set(own().map((span) => span.spanId));
  const roots = own().filter((span) => !ids.has(span.parentSpanId));
  assert.deepEqual(
    roots.map((span) => span.name),
    ["POST /v1/checkout/:id/confirm"],
    "all but the first have their parent in it",
  );
  const from = new Set(own().map(({ version, instance }) => `${version} on ${instance}`));
  assert.deepEqual([...from], [`${releaseVersion()} on ${hostname()}`]);
});

test("running processes export every metric of the dashboards and alerts, and every alert has a runbook", async () => {
  const texts = await Promise.all(
    Object.values(running.stack.admin).map(async (url) => (await fetch(`${url}/metrics`)).text()),
  );
  const exposed = new Set(texts.flatMap((text) => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name)));
  const rules = alertRules("tollbooth");
  const dashboards = (await readdir("deploy/kubernetes/dashboards")).filter((name) => name.endsWith(".json"));
  const files = dashboards.map((name) => `deploy/kubernetes/dashboards/${name}`);
  // Rules on metrics of other programs are in manifests/alerts.test.ts.
  for (const file of [...files, alertManifests.tollbooth, "deploy/alerts/tollbooth.test.yaml"]) {
    const text = await readFile(file, "utf8");
    const named = new Set(text.match(/\b(?:tollbooth|nodejs|process)_[a-z0-9_]+/g) ?? []);
    assert.ok(named.size > 0, file);
    const unknown = [...named].filter(
      (name) => !exposed.has(name) && !exposed.has(name.replace(/_(bucket|count|sum)$/, "")),
    );
    assert.deepEqual(unknown, [], `${file} names metrics that no process exports`);
  }
  // A counter must be exported at 0 before its first increase, which `increase` would otherwise miss.
  const counters = [...rules.matchAll(/increase\((\w+)(?:\{(\w+)=~?"([^"]*)"\})?\[/g)];
  assert.equal(counters.length, rules.split("increase(").length - 1);
  for (const [, name, label, value = ""] of counters) {
    const labels = label === undefined ? "[{ ]" : `\\{.*${label}="${value.replace(".*", '[^"]*')}"`;
    const sample = new RegExp(`^${name}${labels}`, "m");
    assert.ok(
      texts.some((text) => sample.test(text)),
      `no sample of ${sample} before it rises`,
    );
  }
  for (const file of files) assert.ok(Array.isArray(JSON.parse(await readFile(file, "utf8")).panels), file);
  const alerts: unknown[] = parse(rules).groups.flatMap((group: { rules: unknown[] }) => group.rules);
  const runbooks = alerts.map((alert) => String(membersOf(membersOf(alert).annotations).runbook_url));
  for (const [i, path] of runbooks.entries()) {
    const head = (await readFile(path, "utf8")).split("\n")[0];
    assert.equal(head, `# ${membersOf(alerts[i]).alert}`);
  }
  const pages = (await readdir("deploy/runbooks")).map((name) => `deploy/runbooks/${name}`);
  const named = `${rules}\n${alertRules("tollbooth-servers")}\n${alertRules("tollbooth-backups")}`;
  for (const path of pages) {
    const isForAlert = (await readFile(path, "utf8")).startsWith("# Tollbooth");
    assert.ok(!isForAlert || named.includes(`runbook_url: ${path}\n`), `${path} is the page of no alert`);
  }
});

interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function operator(...args: string[]): Promise<CommandResult> {
  return await operatorReading("", ...args);
}

/** @param typed on standard input */
async function operatorReading(typed: string, ...args: string[]): Promise<CommandResult> {
  const env = { ...process.env, STATE_DIR: stateDir };
  try {
    const ended = promisify(execFile)(process.execPath, ["deploy/cli/main.ts", ...args], { env });
    ended.child.stdin?.end(typed);
    const { stdout, stderr } = await ended;
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = membersOf(error);
    return { code: Number(code), out: String(stdout), err: String(stderr) };
  }
}

async function rows(...args: string[]): Promise<Record<string, unknown>[]> {
  const result = await operator(...args, "--json");
  assert.equal(result.code, 0, result.err);
  return JSON.parse(result.out);
}

test("an operator creates a merchant and a working key, revokes another, suspends the merchant, and reads the status", async () => {
  const words = ["--name", "Kiosk", "--email", "k@example.com", "--country", "DE", "--currency", "EUR"];
  const [merchant] = await rows("merchants", "create", ...words);
  const id = String(merchant?.id);
  const [key] = await rows("keys", "create", id, "--name", "till", "--scope", "merchant:read");
  const kiosk = merchantApi(running.stack.gateway, String(key?.api_key));
  (await kiosk.get("/v1/merchants/me")).expect(200);
  const [spare] = await rows("keys", "create", id, "--name", "spare");
  assert.equal((await rows("keys", "revoke", id, String(spare?.id)))[0]?.status, "revoked");
  const keys = (await rows("keys", "list", id)).map(({ name, status }) => [name, status]);
  assert.deepEqual(
    keys,
    [
      ["till", "active"],
      ["spare", "revoked"],
    ],
    "active ones first, however new the others are",
  );
  assert.deepEqual((await rows("keys", "list", id, "--limit", "1")).length, 1);
  const [live] = await rows("keys", "create", id, "--live", "--name", "shop");
  const limit = ["keys", "limit", id, String(live?.id)];
  const [limited] = await rows(...limit, "--ip", "203.0.113.7", "--ip", "2001:DB8::/32");
  assert.deepEqual(limited?.allowed_ips, ["203.0.113.7/32", "2001:db8::/32"]);
  assert.equal((await operator(...limit)).code, 2, "no option does not mean everywhere");
  assert.deepEqual((await rows(...limit, "--everywhere"))[0]?.allowed_ips, []);
  assert.deepEqual((await rows("keys", "list", id, "--live"))[0]?.allowed_ips, []);
  assert.equal((await operator("merchants", "suspend", id)).code, 2, "a suspension has a reason");
  assert.equal((await rows("merchants", "suspend", id, "--reason", "Card testing"))[0]?.status, "suspended");
  const listed = await operator("merchants", "list", "--status", "suspended");
  assert.match(listed.out, new RegExp(`^ID +NAME +STATUS.*\\n${id} +Kiosk +suspended`));
  const states = await rows("status", "services");
  assert.deepEqual(
    states.map(({ service, answers, migrations_missing }) => [service, answers, migrations_missing]),
    sources.map((service) => [service, true, 0]),
  );
  assert.deepEqual(await rows("operations", "list"), []);
  const consumers = (await rows("status", "streams")).map(({ stream, consumer }) => `${stream} ${consumer}`);
  const wanted = Object.values(durableConsumers).map(({ source, name }) => `${source} ${name}`);
  assert.deepEqual(consumers.map((line) => line.replace(/^\S+-/, "")).sort(), wanted.sort(), "as migrate makes them");
});

test("an operator lists the audit log and API requests, by merchant, action, key and status", async () => {
  const merchant = running.stack.merchant_id;
  const refused = (await shop.get("/v1/payments/pay_00000000000000000000000000")).expect(404);
  const requestId = refused.headers.get("request-id") ?? "";
  const line = await eventually("the refused request in the log", async () =>
    (await rows("requests", "list", merchant, "--min-status", "400")).find(({ id }) => id === requestId),
  );
  assert.deepEqual([line.method, line.status, line.merchant_id], ["GET", 404, merchant]);
  assert.deepEqual(await rows("requests", "show", requestId), [line]);
  assert.deepEqual((await rows("requests", "list", merchant, "--key", String(line.key), "--limit", "1")).length, 1);
  assert.deepEqual(await rows("requests", "list", merchant, "--live"), []);
  assert.equal((await operator("requests", "list", merchant, "--min-status", "all")).code, 2);
  const [key] = await rows("keys", "create", merchant, "--name", "audited", "--scope", "merchant:read");
  const entry = await eventually("the new key in the audit log", async () =>
    (await rows("audit", "list", merchant, "--action", "api_key.created")).find(
      ({ object_id }) => object_id === key?.id,
    ),
  );
  assert.deepEqual([entry.actor, entry.merchant_id], ["operator", merchant]);
  assert.deepEqual(await rows("audit", "list", "--object", String(key?.id)), [entry]);
  assert.deepEqual(await rows("audit", "list", merchant, "--until", "2020-01-01"), []);
});

test("credentials of a processor are read from a file or from standard input", async () => {
  const merchant = running.stack.merchant_id;
  const [account] = await rows("connectors", "list", merchant);
  const kept = membersOf(JSON.parse(await readFile(`${stateDir}/secrets.json`, "utf8")));
  const lines = `# of the sandbox\nCONNECTOR_SECRET_KEY="${kept.simulatorSecretKey}"\n`;
  const folder = await tempDir("credentials");
  const file = join(folder, "credentials.env");
  await writePrivate(file, lines);
  const rotate = ["connectors", "rotate", merchant, String(account?.id)];
  try {
    assert.equal((await rows(...rotate, "--credentials", file))[0]?.credentials_taken, true);
  } finally {
    await rm(folder, { recursive: true });
  }
  assert.equal((await operatorReading(lines, ...rotate, "--credentials", "-")).code, 0);
  const wrong = await operatorReading("CONNECTOR_SECRET_KEY=sim_sk_wrong\n", ...rotate, "--credentials", "-");
  assert.deepEqual(
    [wrong.code, wrong.out.includes("sim_sk_wrong"), wrong.err.includes("sim_sk_wrong")],
    [1, false, false],
  );
  assert.match((await operatorReading("", ...rotate, "--credentials", "-")).err, /^no credentials: /);
  const gone = await operator(...rotate, "--credentials", file);
  assert.deepEqual([gone.code, gone.err.startsWith("--credentials: ENOENT")], [2, true], gone.err);
});

test("an operator lists differences of statements and books, and has a day compared immediately", async () => {
  const account = (await shop.get("/v1/merchants/me/connectors")).expect(200).text("data.0.id");
  const client = new pg.Client(`${running.stack.database}_payments`);
  await client.connect();
  const add =
    "insert into statement_differences (connector_account_id, object, ref, kind, theirs) values ($1, 'payment', $2, $3, '100 EUR')";
  for (const ref of ["pi_far", "pi_near"]) await client.query(add, [account, ref, "unknown_to_us"]);
  await client.end();
  const refs = async (...words: string[]) =>
    (await rows("statements", "differences", ...words)).map(({ connector_ref, theirs }) => [connector_ref, theirs]);
  assert.deepEqual(await refs(), [
    ["pi_near", "100 EUR"],
    ["pi_far", "100 EUR"],
  ]);
  assert.deepEqual(await refs("--limit", "1"), [["pi_near", "100 EUR"]]);
  assert.deepEqual(await refs("--account", "mco_00000000000000000000000000"), []);
  const [match] = await rows("statements", "match", account);
  assert.deepEqual([match?.taken_in, match?.differences], [0, 0]);
  assert.equal(
    (await operator("statements", "match", account, "--from", "2026-11-23 08:00")).code,
    2,
    "without a zone",
  );
  assert.equal((await operator("statements", "match", account, "--from", "2020-01-01")).code, 1, "longer than a day");
});

test("an operator replays a service's events: the count is printed, no webhook is repeated, and the audit log has the operator", async () => {
  const before = receiver.received.length;
  const replay = ["events", "replay", "--source", "payments", "--by", "ada@example.com", "--since"];
  const published = async () => {
    const client = new pg.Client(`${running.stack.database}_payments`);
    await client.connect();
    const { rows: found } = await client.query(
      "select count(*)::int as all, count(published_at)::int as published from outbox",
    );
    await client.end();
    return found[0];
  };
  const { all } = await published();
  const since = new Date(Date.now() - 3_600_000).toISOString();
  assert.deepEqual(await rows(...replay, since), [{ source: "payments", events: all }]);
  await eventually("all of them to be published again", async () => (await published()).published === all + 1);
  assert.equal((await rows(...replay, new Date().toISOString()))[0]?.events, 0, "nothing has happened since");
  assert.equal((await operator(...replay, "yesterday")).code, 2);
  assert.equal((await operator(...replay, since, "--until", since)).code, 1);
  const merchant = new pg.Client(`${running.stack.database}_merchant`);
  await merchant.connect();
  await eventually("the audit log to have it", async () => {
    const { rows: entries } = await merchant.query(
      "select actor, details from audit_entries where action = 'events.replay_requested' order by id limit 1",
    );
    return entries[0]?.actor === "operator" && entries[0].details.operator === "ada@example.com";
  });
  await merchant.end();
  const consumers = async () =>
    (await rows("status", "streams")).filter(({ stream }) => stream === "tollbooth-payments");
  await eventually("all to be consumed", async () =>
    (await consumers()).every(({ pending, unacknowledged }) => pending === 0 && unacknowledged === 0),
  );
  assert.equal(receiver.received.length, before);
});

test("the samples of a first call work with a reader's token, and so does a plain gRPC client", async () => {
  const env = {
    ...process.env,
    TOLLBOOTH_MERCHANT_URL: running.stack.rpc.merchant,
    TOLLBOOTH_TOKEN_FILE: running.stack.rpc_files.tokens.reader,
  };
  const wanted = running.stack.merchant_id;
  const runExample = (command: string, ...args: string[]) =>
    promisify(execFile)(command, args, { env, encoding: "buffer" });
  const tries: [string, string, string][] = [
    [process.execPath, "list-merchants.ts", ""],
    ["python3", "list_merchants.py", ""],
    ["sh", "list-merchants.sh", "curl"],
    ["go", "list_merchants.go", ""],
  ];
  for (const [command, file, also] of tries) {
    if (!(await isInstalled(command)) || (also && !(await isInstalled(also)))) {
      console.log(`  not run: ${file} (no ${also || command} here)`);
      continue;
    }
    const path = `docs/internal-api/${file}`;
    const { stdout } = await runExample(command, ...(command === "go" ? ["run", path] : [path]));
    assert.match(stdout.toString(), new RegExp(wanted), file);
  }
  if (!(await isInstalled("curl"))) return console.log("  not run: gRPC by curl (no curl here)");
  // A gRPC message: not compressed, 4 bytes of length, then ListMerchantsRequest{page_size: 5}.
  const frame = join(stateDir, "frame.bin");
  await writeFile(frame, Buffer.from([0, 0, 0, 0, 2, 0x10, 5]));
  const token = (await readFile(env.TOLLBOOTH_TOKEN_FILE, "utf8")).trim();
  const url = `${env.TOLLBOOTH_MERCHANT_URL}/merchant.v1.MerchantService/ListMerchants`;
  const headers = [
    "content-type: application/grpc",
    "te: trailers",
    "grpc-timeout: 3S",
    `authorization: Bearer ${token}`,
  ];
  const flags = ["-sS", "-i", "--http2-prior-knowledge", "--max-time", "5", "--data-binary", `@${frame}`];
  const { stdout } = await runExample("curl", ...flags, ...headers.flatMap((header) => ["-H", header]), url);
  assert.match(stdout.toString("latin1"), new RegExp(wanted));
});

async function isInstalled(command: string): Promise<boolean> {
  return await promisify(execFile)("sh", ["-c", `command -v "${command}"`]).then(
    () => true,
    () => false,
  );
}

test("an operator's mistake prints one line, and the exit code distinguishes it from a failure", async () => {
  const [unknown, bare, missing, invalid] = await Promise.all([
    operator("merchants", "sell"),
    operator("merchants", "show"),
    operator("merchants", "show", "mer_00000000000000000000000000"),
    operator("merchants", "create", "--name", "x", "--email", "x", "--country", "Germany", "--currency", "EUR"),
  ]);
  assert.deepEqual([unknown.code, bare.code, missing.code, invalid.code], [2, 2, 1, 1]);
  assert.match(unknown.err, /merchants has no sell/);
  assert.match(bare.err, /usage: tollbooth merchants show <merchant>/);
  assert.match(missing.err, /^not found/);
  assert.match(invalid.err, /country: /);
});

test("rotates a caller's token under load without a failed request", async () => {
  const { tokens, callers } = running.stack.rpc_files;
  const accepted = await readFile(callers, "utf8");
  const fresh = randomToken(32);
  secrets.set("new token of the gateway", fresh);
  const refused: string[] = [];
  let [sent, isOver] = [0, false];
  const load = async () => {
    for (; !isOver && sent < 5_000; sent++) {
      // Each request for an unknown id calls a service, and so does a list.
      const answer = await shop.get(sent % 2 ? "/v1/payments" : `/v1/checkout/${session.id}?secret=${session.secret}`);
      if (answer.status !== 200) refused.push(String(answer));
    }
  };
  const someRequests = async () => {
    for (const goal = sent + 40; sent < goal && !isOver; ) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const loads = [load(), load(), load()];
  try {
    await writePrivate(callers, `${accepted}${callerLine("gateway", fresh)}\n`);
    await someRequests();
    await writePrivate(tokens.gateway, `${fresh}\n`);
    await someRequests();
    const remaining = accepted.split("\n").filter((line) => !line.startsWith("gateway "));
    // The old token is removed while the gateway may still use it: a refused caller reads its file again and retries.
    await writePrivate(callers, `${remaining.join("\n")}\n${callerLine("gateway", fresh)}\n`);
    await someRequests();
  } finally {
    isOver = true;
    await Promise.all(loads);
  }
  assert.deepEqual(refused, []);
  assert.ok(sent >= 120);
});

test("logs, traces, metrics and files of the run contain no secret", async () => {
  const { tokens } = running.stack.rpc_files;
  for (const [name, path] of Object.entries(tokens))
    secrets.set(`token of ${name}`, (await readFile(path, "utf8")).trim());
  const kept: unknown = JSON.parse(await readFile(`${stateDir}/secrets.json`, "utf8"));
  for (const [name, value] of Object.entries(membersOf(kept))) secrets.set(name, String(value));
  secrets.set("API key", running.stack.api_key);
  const isSecretFile = /\/(secrets\.json|merchant\.json|stack\.json|[a-z]+\.token|[a-z-]*key[a-z-]*\.pem)$/;
  const entries = await readdir(stateDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const written = new Map<string, string>([["traces", collector.raw.join("\n")]]);
  for (const file of files) {
    if (!isSecretFile.test(file) && !file.includes("compile-cache")) written.set(file, await readFile(file, "utf8"));
  }
  for (const [name, url] of Object.entries(running.stack.admin)) {
    written.set(`metrics of ${name}`, await (await fetch(`${url}/metrics`)).text());
  }
  assert.ok([...written.keys()].some((name) => name.endsWith("gateway.log")) && collector.raw.length > 0);
  const leaks = [...written].flatMap(([file, text]) =>
    [...secrets].filter(([, secret]) => secret !== "" && text.includes(secret)).map(([what]) => `${what} in ${file}`),
  );
  assert.deepEqual(leaks, []);
});

test("re-encrypts every sealed column under a new key, which alone decrypts it", async () => {
  const secrets: unknown = JSON.parse(await readFile(`${stateDir}/secrets.json`, "utf8"));
  const [id = "", old = ""] = String(membersOf(secrets).encryptionKeys).split(":");
  const [before, fresh] = [Buffer.from(old, "base64"), randomBytes(32)];
  for (const service of sources) {
    const url = `${running.stack.database}_${service}`;
    const db = await Database.open({ url, name: "test", log: createLog("test", "error") });
    try {
      const bytes = await db.rows<{ name: string }>(
        `select table_name || '.' || column_name as name from information_schema.columns
         where table_schema = 'public' and data_type = 'bytea'`,
      );
      const sealed = sealedColumns[service].map(({ table, column }) => `${table}.${column}`);
      const open = bytes.map(({ name }) => name).filter((name) => !sealed.includes(name) && !isPlain(name));
      assert.deepEqual(open, [], "a column of bytes is sealed, and rotated, or known to hold no secret");
      if (service === "checkout")
        (await shop.post("/v1/checkout-sessions", { amount: 1, currency: "EUR" })).expect(201);
      if (service === "payments") {
        const month = { type: "payments", from: "2025-11-01", to: "2025-12-01" };
        (await shop.post("/v1/reports", month)).expect(201);
      }
      assert.deepEqual([...(await readKeyAges(db)).keys()], [id], "the service records its key");
      const both = new Vault(
        new Map([
          ["new", fresh],
          [id, before],
        ]),
      );
      const alone = new Vault(new Map([["new", fresh]]));
      for (const column of sealedColumns[service]) {
        const changed = await reencryptColumn(db, both, column);
        const name = `${service}.${column.table}.${column.column}`;
        assert.ok(changed > 0 || unused.includes(name), `${name} was tried`);
        assert.equal(await reencryptColumn(db, alone, column), 0);
        const values = await db.rows<{ value: Buffer; context: string }>(
          `select ${column.column} as value, ${column.context} as context from ${column.table} where ${column.column} is not null`,
        );
        for (const { value, context } of values) alone.decrypt(value, context);
      }
    } finally {
      await db.close();
    }
  }
});

/**
 * Digests, fingerprints, webhook bodies, and a merchant's documents, which are stored like the buyer's e-mail
 * (docs/decisions/0016-disputes-follow-the-processor.md).
 */
function isPlain(column: string): boolean {
  const bodies = /^(outbox|delivery_queue|deliveries\w*|events\w*|parked_events|recovery_events)\.body$/;
  return (
    bodies.test(column) ||
    // A report's pieces are sealed with its own key, which is rotated.
    [
      "dispute_file_pieces.bytes",
      "report_pieces.bytes",
      "logos.content",
      "teams.digest",
      "teams.former_digest",
    ].includes(column) ||
    /^passkeys\.(credential_id|public_key)$/.test(column) ||
    /[._](hash|sha256)$|\.fingerprint$/.test(column)
  );
}

test.run();
