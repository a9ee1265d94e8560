// docs/contract.md §5: reports as a merchant's backend orders, follows and downloads them.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { reportColumns } from "../../services/payments/lists/reports/columns.ts";
import { reportTypes } from "../../services/public-json/report.ts";
import { makePurchase } from "../console/purchases.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { startReceiver } from "../harness/receiver.ts";
import { fixture } from "../harness/suite.ts";
import { contractSuite } from "./caller.ts";

const { test, running, merchant, api } = contractSuite("reports", { timeoutMs: 60_000 });
const receiver = fixture(test, () => startReceiver(running.tls));

const november = { type: "payments", from: "2025-11-01", to: "2025-12-01" };
const order = (body: object = {}, as = merchant.apiKey) =>
  api.call("createReport", 201, { as, body: { ...november, ...body } });

async function ready(id: string, as = merchant.apiKey) {
  return await eventually(`${id} to be ready`, async () => {
    const report = await api.call("getReport", 200, { as, path: { id } });
    return report.at("status") === "ready" && report;
  });
}

/** A day before and after now: such a report begins a moment later. */
const today = () => {
  const [from, to] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
  return { from, to };
};

// Proves createReport: response; getReport: response; getReportFile: response
test("docs/contract.md §5: a report is ordered, made, announced and downloaded", async () => {
  const own = await freshMerchant(running);
  const as = own.apiKey;
  const hooks = { event_types: ["report.ready"] };
  for (const payload of ["reference", "object"]) {
    const body = { ...hooks, url: `${receiver.url}/${payload}`, payload };
    await api.call("createWebhookEndpoint", 201, { as, body });
  }
  const { payment } = await makePurchase(running, own);
  const range = today();
  const body = { ...range, columns: ["id", "amount_decimal", "currency"] };
  const ordered = await order(body, as);
  assert.deepEqual(
    ["type", "rows", "size", "timezone", "columns", "from", "to"].map((name) => ordered.at(name)),
    ["payments", 0, 0, "UTC", body.columns, range.from, range.to],
  );
  const id = ordered.text("id");
  const report = await ready(id, as);
  assert.deepEqual([report.at("progress"), report.at("rows")], [100, 1]);
  const days = (Date.parse(report.text("expires_at")) - Date.parse(report.text("created_at"))) / 86_400_000;
  assert.ok(days > 29.9 && days < 30.1);
  const file = await api.call("getReportFile", 200, { as, path: { id } });
  const amount = (await api.call("getPayment", 200, { as, path: { id: payment } })).number("amount");
  assert.equal(
    file.raw.replace("\ufeff", ""),
    `id,amount_decimal,currency\r\n${payment},${(amount / 100).toFixed(2)},EUR\r\n`,
  );
  assert.equal(file.headers.get("content-disposition"), `attachment; filename="payments-${id}.csv"`);
  const bytes = String(report.at("size"));
  assert.deepEqual([file.headers.get("content-length"), file.headers.get("etag")], [bytes, `"${id}"`]);
  const named = JSON.stringify({ type: "report.ready", report_id: id, status: "ready" });
  await receiver.waitFor((request) => request.body.toString() === named);
  const whole = await receiver.waitFor((request) => request.path === "/object" && request.body.includes(id));
  assert.deepEqual(JSON.parse(whole.body.toString()).data, report.body);
  const events = await api.call("listEvents", 200, { as, query: { type: "report.ready" } });
  assert.deepEqual(events.at("data.0.payload"), JSON.parse(named));
});

// Proves createReport: body
test("docs/contract.md §5: a date is its first moment in the time zone, where clocks change, too", async () => {
  for (const [timezone, from, first] of [
    ["Europe/Berlin", "2025-03-30", "2025-03-29T23:00:00.000Z"],
    ["Europe/Berlin", "2025-03-31", "2025-03-30T22:00:00.000Z"],
    ["Europe/Berlin", "2025-10-27", "2025-10-26T23:00:00.000Z"],
    // Midnight does not happen, or happens twice.
    ["America/Santiago", "2025-09-07", "2025-09-07T04:00:00.000Z"],
    ["America/Havana", "2025-11-02", "2025-11-02T04:00:00.000Z"],
    ["Asia/Kolkata", "2025-11-01", "2025-10-31T18:30:00.000Z"],
    ["Pacific/Kiritimati", "2025-11-01", "2025-10-31T10:00:00.000Z"],
    ["UTC", "2025-11-01T10:00:00.5+02:00", "2025-11-01T08:00:00.500Z"],
  ] as const) {
    const own = await freshMerchant(running);
    const report = await order({ timezone, from, to: "2025-12-01" }, own.apiKey);
    assert.deepEqual([report.at("from"), report.at("timezone")], [first, timezone], `${timezone} ${from}`);
  }
});

// Proves createReport: errors
test("docs/contract.md §5: a wrong order is refused with its field", async () => {
  const wrong = async (field: string, body: object, problem: RegExp) => {
    const answer = await api.refused("createReport", 400, "invalid_body", { body: { ...november, ...body } });
    assert.deepEqual([answer.list("error.details").length, answer.at("error.details.0.field")], [1, field], answer.raw);
    assert.match(answer.text("error.details.0.problem"), problem);
  };
  await wrong("type", { type: "sales" }, /must be one of/);
  await wrong("from", { from: "2025-02-30" }, /RFC 3339/);
  await wrong("from", { to: "2025-10-01" }, /earlier/);
  await wrong("to", { to: "2026-11-03" }, /366 days/);
  await wrong("timezone", { timezone: "Europe/Atlantis" }, /IANA/);
  await wrong("columns[1]", { columns: ["id", "iban"] }, /must be a column of payments: id, created_at/);
  await wrong("columns[1]", { columns: ["id", "id"] }, /repeat/);
  await wrong("colour", { colour: "green" }, /unknown|not/);
  const own = await freshMerchant(running);
  const answers = [];
  for (let i = 0; i < 12; i++) answers.push(own.api.post("/v1/reports", { ...november, to: "2025-12-01" }));
  const refused = (await Promise.all(answers)).filter(({ status }) => status !== 201);
  for (const answer of refused) assert.match(answer.text("error.details.0.problem"), /at most 10 reports/);
});

// Proves createReport: replay, reuse, in_flight
test("docs/contract.md §6: a key orders one report", async () => {
  const headers = { "Idempotency-Key": newId("request") };
  const sent = { body: november, headers };
  const both = await Promise.all([
    merchant.api.post("/v1/reports", november, headers),
    merchant.api.post("/v1/reports", november, headers),
  ]);
  for (const { status } of both) assert.ok(status === 201 || status === 409);
  const first = await api.call("createReport", 201, sent);
  assert.equal(first.headers.get("idempotent-replayed"), "true");
  const ids = new Set([first, ...both.filter(({ status }) => status === 201)].map((answer) => answer.at("id")));
  assert.equal(ids.size, 1);
  await api.refused("createReport", 422, "idempotency_key_reuse", { ...sent, body: { ...november, type: "refunds" } });
});

// Proves getReportFile: range
test("docs/contract.md §5: any range of a file is served, and a download can go on", async () => {
  const id = (await order({ type: "balance_transactions" })).text("id");
  const size = (await ready(id)).number("size");
  const path = { id };
  const file = `${running.gateway}/v1/reports/${id}/file`;
  const authorization = `Bearer ${merchant.apiKey}`;
  const bytes = Buffer.from(await (await fetch(file, { headers: { authorization } })).arrayBuffer());
  assert.equal(bytes.length, size);
  const part = async (range: string, status: number, more: Record<string, string> = {}) => {
    const answer = await fetch(file, { headers: { authorization, range, ...more } });
    assert.equal(answer.status, status, range);
    return { range: answer.headers.get("content-range"), body: Buffer.from(await answer.arrayBuffer()) };
  };
  await api.call("getReportFile", 206, { path, headers: { range: "bytes=3-6" } });
  for (const [range, begin, end] of [
    ["bytes=0-0", 0, 1],
    ["bytes=3-6", 3, 7],
    ["bytes=5-", 5, size],
    ["bytes=-4", size - 4, size],
    [`bytes=0-${size + 100}`, 0, size],
    [`bytes=-${size + 100}`, 0, size],
  ] as const) {
    const { range: served, body } = await part(range, 206);
    assert.equal(served, `bytes ${begin}-${end - 1}/${size}`);
    assert.ok(body.equals(bytes.subarray(begin, end)), range);
  }
  assert.ok((await part("bytes=5-", 206, { "if-range": `"${id}"` })).body.equals(bytes.subarray(5)));
  for (const range of ["bytes=0-1,3-4", "bytes=4-2", "lines=1-2", "bytes=-", "bytes=x-"])
    assert.ok((await part(range, 200)).body.equals(bytes), range);
  assert.ok((await part("bytes=5-", 200, { "if-range": '"another"' })).body.equals(bytes));
  for (const range of [`bytes=${size}-`, "bytes=-0"]) assert.equal((await part(range, 416)).range, `bytes */${size}`);
  const head = await fetch(file, { method: "HEAD", headers: { authorization } });
  assert.deepEqual([head.status, head.headers.get("content-length"), await head.text()], [200, String(size), ""]);
});

// Proves listReports: response, after
test("docs/contract.md §5: reports are listed newest first, also by after", async () => {
  const own = await freshMerchant(running);
  const as = own.apiKey;
  const ids: string[] = [];
  for (const type of reportTypes) ids.unshift((await order({ type }, as)).text("id"));
  for (const id of ids) await ready(id, as);
  const list = await api.call("listReports", 200, { as, query: { limit: 3 } });
  const idsOf = (answer: typeof list) => answer.list("data").map((_, i) => answer.at(`data.${i}.id`));
  assert.deepEqual([idsOf(list), list.at("total"), list.at("has_more")], [ids.slice(0, 3), 5, true]);
  const rest = await api.call("listReports", 200, { as, query: { after: ids[2] ?? "" } });
  assert.deepEqual([idsOf(rest), rest.at("has_more")], [ids.slice(3), false]);
  const all = reportColumns.payout_reconciliation.map(({ name }) => name);
  assert.deepEqual(list.at("data.0.columns"), all, "all columns by default");
});

// Proves getReport: errors; getReportFile: errors
test("another merchant's report is not_found, and so is the file of one that is not ready", async () => {
  const other = await freshMerchant(running);
  const id = (await order()).text("id");
  await ready(id);
  for (const operation of ["getReport", "getReportFile"]) {
    await api.refused(operation, 404, "not_found", { as: other.apiKey, path: { id } });
    await api.refused(operation, 404, "not_found", { path: { id: newId("report") } });
  }
  const late = await order(today());
  await api.refused("getReportFile", 404, "not_found", { path: { id: late.text("id") } });
  await api.sawEverything([], "createReport", "listReports", "getReport", "getReportFile");
});

test.run();
