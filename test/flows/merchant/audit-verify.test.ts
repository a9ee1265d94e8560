// The audit log from outside the merchant service: the actor of an entry by the caller's token, and what
// `tollbooth audit verify` finds against separately stored heads.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@connectrpc/connect";
import type { Database } from "#platform/database/database.ts";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { callerLine, callersFile, fixedToken } from "#platform/secrets/callers.ts";
import { callContext } from "#platform/values/call-context.ts";
import { isId, newId } from "#platform/values/id.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import { Environment, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { appendAudit } from "../../../services/merchant/flows/append-audit.ts";
import { advancePosition, entryBytes, origin } from "../../../services/merchant/rules/audit-chain.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import {
  type AuditEntry,
  chainedEntry,
  insertEntries,
  listAudit,
} from "../../../services/merchant/store/audit-entries.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";
import { serviceConfig } from "../service-config.ts";

const test = suite("the audit log from outside", { timeoutMs: 120_000 });
const tokens = { gateway: "g".repeat(40), operator: "o".repeat(40) };
const simulator = { SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_whsec_test" };
let dir: string;
let service: { port: number; stop(): Promise<void> };
let owner: Database;
const peers: Peer[] = [];

test.before(async () => {
  dir = await tempDir("audit");
  const callers = join(dir, "callers");
  const own = "m".repeat(40);
  const lines = [callerLine("gateway", tokens.gateway), callerLine("operator", tokens.operator)];
  await writeFile(callers, lines.join("\n"));
  await writeFile(join(dir, "token"), tokens.operator);
  const database = await freshDatabase("merchant");
  const config = {
    ...(await serviceConfig("merchant")),
    DATABASE_URL: database.serviceUrl,
    RPC_TOKEN_FILE: fixedToken(own),
    RPC_CALLERS_FILE: callersFile.parse(callers),
  };
  service = await startMerchant({ ...config, ...simulator });
  owner = await openDatabase(database.url);
});
test.after(async () => {
  for (const peer of peers) peer.close();
  await owner?.close();
  await service?.stop();
  await rm(dir, { recursive: true });
});

function as(caller: keyof typeof tokens): {
  merchants: Client<typeof MerchantService>;
  audit: Client<typeof AuditService>;
} {
  const peer = connectPeer({ url: `http://127.0.0.1:${service.port}`, token: tokens[caller] });
  peers.push(peer);
  return { merchants: peer.client(MerchantService), audit: peer.client(AuditService) };
}

/** Calls with this actor and request id. */
function callAs<T>(context: { actor: string; requestId: string }, call: () => Promise<T>): Promise<T> {
  return callContext.run({ ...context, traceparent: "", deadlineMs: undefined }, call);
}

async function newMerchant(): Promise<string> {
  const profile = { name: "Acme", legalName: "", email: "ops@acme.example", country: "DE", currency: "EUR" };
  const { merchant } = await as("operator").merchants.createMerchant(profile);
  assert(merchant);
  return merchant.id;
}

const entriesOf = (merchantId: string, count: number) =>
  eventually(`${count} entries of ${merchantId}`, async () => {
    const { entries } = await as("operator").audit.listAuditEntries({ merchantId });
    return entries.length === count && entries;
  });

test("an operator's entry has the actor operator, whatever actor and request the call claims", async () => {
  const merchantId = await newMerchant();
  const { merchants } = as("operator");
  const [keyId, requestId] = [newId("apiKey"), newId("request")];
  const state = { merchantId, refundsEnabled: false };
  await callAs({ actor: keyId, requestId: "x".repeat(4_000) }, () => merchants.updateMerchantState(state));
  await callAs({ actor: "eve@example.com", requestId }, () => merchants.updateMerchantState(state));
  await callAs({ actor: "x".repeat(65), requestId: "till-7:42" }, () => merchants.updateMerchantState(state));
  const [long, person, key, created] = await entriesOf(merchantId, 4);
  assert.ok(long && person && key && created);
  for (const entry of [long, person, key, created]) assert.equal(entry.actor, "operator");
  assert.deepEqual(
    [created, key, person, long].map(({ details }) => details.said_actor),
    [undefined, keyId, "eve@example.com", undefined],
  );
  assert.deepEqual([person.requestId, long.requestId], [requestId, "till-7:42"]);
  assert.ok(isId("request", key.requestId), key.requestId);
});

test("a gateway's entry has the key it acts for as its actor", async () => {
  const merchantId = await newMerchant();
  const [actor, requestId] = [newId("apiKey"), newId("request")];
  const profile = { merchantId, environment: Environment.LIVE, phone: "+4915112345678" };
  await callAs({ actor, requestId }, () => as("gateway").merchants.updateProfile(profile));
  const [updated] = await entriesOf(merchantId, 2);
  assert.deepEqual([updated?.action, updated?.actor, updated?.requestId], ["merchant.updated", actor, requestId]);
  assert.equal(updated?.details.said_actor, undefined);
});

async function headOf(merchantId: string): Promise<{ sequence: string; hash: string }> {
  const [head] = await owner.rows<{ sequence: string; hash: string }>(
    "select seq as sequence, encode(hash, 'hex') as hash from audit_heads where merchant_id = $1",
    [merchantId],
  );
  assert(head);
  return head;
}

async function verify(...words: string[]): Promise<{ code: number; rows: Record<string, unknown>[]; text: string }> {
  const script = join(import.meta.dirname, "../../../deploy/cli/main.ts");
  const url = `http://127.0.0.1:${service.port}`;
  const env = {
    ...process.env,
    RPC_TOKEN_FILE: join(dir, "token"),
    MERCHANT_URL: url,
    CHECKOUT_URL: url,
    PAYMENTS_URL: url,
    WEBHOOK_URL: url,
  };
  return await new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [script, "audit", "verify", ...words, "--json"],
      { env, timeout: 60_000 },
      (_, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, rows: stdout === "" ? [] : JSON.parse(stdout), text: stderr }),
    );
  });
}

function entryOf(id: string, merchantId: string, occurredAt: Date): AuditEntry {
  const what = { action: "merchant.updated", objectId: merchantId, status: "", details: {} };
  return { id, occurredAt, merchantId, environment: Environment.SANDBOX, actor: "operator", requestId: "", ...what };
}

/** Changes rows past the triggers. */
async function tampered(...statements: string[]): Promise<void> {
  await owner.transaction(async (tx) => {
    await tx.rows("set local session_replication_role = replica");
    for (const statement of statements) await tx.rows(statement);
  });
}

async function headsFile(name: string, ...lines: unknown[]): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, ["starting", ...lines.map((line) => JSON.stringify(line)), ""].join("\n"));
  return path;
}

test("the command verifies every chain, names the first broken position, and exits with 1", async () => {
  const merchantId = await newMerchant();
  await as("operator").merchants.updateMerchantState({ merchantId, refundsEnabled: false });
  const [last, first] = await entriesOf(merchantId, 2);
  const head = await headOf(merchantId);
  const all = await verify();
  assert.equal(all.code, 0, all.text);
  assert.deepEqual(
    all.rows.find((row) => row.merchant_id === merchantId),
    { merchant_id: merchantId, outcome: "holds", ...head },
  );
  assert.equal((await verify(merchantId, "--head", `${head.sequence}:${head.hash}`)).code, 0);
  await tampered(`update audit_entries set actor = 'ak_other' where id = '${first?.id}'`);
  const broken = await verify();
  assert.equal(broken.code, 1);
  assert.deepEqual(
    broken.rows.filter(({ outcome }) => outcome !== "holds").map((row) => [row.merchant_id, row.outcome]),
    [[merchantId, `entry_changed at 1 (${first?.id})`]],
  );
  await tampered(
    `update audit_entries set actor = 'operator' where id = '${first?.id}'`,
    `delete from audit_links where entry_id = '${last?.id}'`,
    `delete from audit_entries where id = '${last?.id}'`,
    `update audit_heads set seq = 1, hash = (select hash from audit_links where entry_id = '${first?.id}') where merchant_id = '${merchantId}'`,
  );
  assert.equal((await verify(merchantId)).code, 0);
  const cut = await verify(merchantId, "--head", `${head.sequence}:${head.hash}`);
  assert.deepEqual([cut.code, cut.rows[0]?.outcome], [1, "tail_missing at 2"]);
});

test("an entry without a link, or in another merchant's chain, is reported although every chain reaches its head", async () => {
  const merchantId = await newMerchant();
  await entriesOf(merchantId, 1);
  const head = await headOf(merchantId);
  const old = newId("event");
  const entry = entryOf(old, merchantId, new Date(Date.now() + 2 * 86_400_000));
  const before = entryOf(newId("event"), merchantId, new Date());
  await owner.transaction((tx) => insertEntries(tx, [entry, before]));
  const known = ["--head", `${head.sequence}:${head.hash}`];
  const loose = await verify(merchantId, ...known);
  assert.deepEqual(
    [loose.code, ...loose.rows.map(({ outcome }) => outcome)],
    [1, "holds", `${old} is in no chain`],
    "entries of 0.1.0 are allowed",
  );
  const { seq, hash } = advancePosition(origin, entryBytes(chainedEntry(entry)));
  await owner.rows("insert into audit_heads (merchant_id, seq, hash) values ('mer_zz', $1, $2)", [seq, hash]);
  await owner.rows(
    "insert into audit_links (merchant_id, seq, entry_id, late, hash) values ('mer_zz', $1, $2, false, $3)",
    [seq, old, hash],
  );
  const astray = await verify(merchantId, ...known);
  assert.deepEqual([astray.code, astray.rows[1]?.outcome], [1, `${old} is in another one's chain`]);
  const all = await verify();
  assert.ok(
    all.rows.some((row) => row.merchant_id === "mer_zz" && String(row.outcome).startsWith("entry_of_another at 1")),
  );
  await tampered(
    "delete from audit_links where merchant_id = 'mer_zz'",
    "delete from audit_heads where merchant_id = 'mer_zz'",
    `delete from audit_entries where id = '${old}'`,
  );
});

test("a rewritten log is consistent, but differs from separately stored heads", async () => {
  const merchantId = await newMerchant();
  await entriesOf(merchantId, 1);
  const head = await headOf(merchantId);
  const every = ["merchantId", "actor", "objectId", "action", "beforeId"].map((name) => [name, ""]);
  const filter = { ...Object.fromEntries(every), merchantId, environment: 0, since: undefined, until: undefined };
  const entries = await listAudit(owner, { ...filter, limit: 10 });
  const tables = ["entries", "links", "heads"].map((t) => `delete from audit_${t} where merchant_id = '${merchantId}'`);
  await tampered(...tables);
  const file = await headsFile("log", { level: 30, merchant_id: merchantId, ...head, msg: "audit head sealed" });
  const gone = await verify("--heads", file);
  assert.deepEqual(
    [gone.code, gone.rows.find((row) => row.merchant_id === merchantId)?.outcome],
    [1, "tail_missing at 1"],
  );
  await appendAudit(
    owner,
    entries.map((entry) => ({ ...entry, actor: "ak_other" })),
  );
  assert.equal((await verify(merchantId)).code, 0);
  const forged = await verify(merchantId, "--heads", file);
  assert.equal(forged.code, 1);
  assert.match(String(forged.rows[0]?.outcome), /^not_as_sealed at 1 \(evt_/);
  const earlier = join(dir, "earlier.json");
  await writeFile(earlier, JSON.stringify([{ merchant_id: merchantId, outcome: "holds", ...head }]));
  assert.equal((await verify("--heads", earlier)).code, 1);
  const other = await newMerchant();
  for (const words of [
    [other, "--heads", earlier],
    [merchantId, "--head", `${head.sequence}:${head.hash}:junk`],
    ["--head", "1:00"],
    ["mer_1", "--head", "0:00"],
    ["--heads", join(dir, "token")],
  ]) {
    assert.equal((await verify(...words)).code, 2, words.join(" "));
  }
});

test("a chain of several pages is verified to its end", async () => {
  const merchantId = newId("merchant");
  const environment = Environment.LIVE;
  const entry = {
    merchantId,
    environment,
    occurredAt: new Date(),
    actor: "",
    requestId: "",
    objectId: "",
    status: "",
    details: {},
  };
  const entries = Array.from({ length: 450 }, () => ({ ...entry, id: newId("event"), action: "merchant.updated" }));
  await appendAudit(owner, entries);
  const whole = await verify(merchantId);
  assert.deepEqual([whole.code, whole.rows[0]?.sequence], [0, "450"]);
  await tampered(`delete from audit_entries where id = '${entries[420]?.id}'`);
  const broken = await verify(merchantId);
  assert.deepEqual([broken.code, broken.rows[0]?.outcome], [1, `entry_missing at 421 (${entries[420]?.id})`]);
});

test.run();
