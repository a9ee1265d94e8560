// docs/contract.md §5: disputes as a merchant works with them.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { membersOf } from "#platform/values/unchecked.ts";
import { disputedPurchase } from "../console/purchases.ts";
import { eventually } from "../harness/eventually.ts";
import { jpegFile, pdfFile, pngFile } from "../harness/files/sample-files.ts";
import { logFile } from "../harness/files/stack-logs.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { contractSuite } from "./caller.ts";
import { failProcessor } from "./operator.ts";

const { test, running, merchant, api } = contractSuite("disputes", { timeoutMs: 60_000 });

const unknown = "dp_01jd3v9q6k8m2n4p6r8t0v2x4z";
const winning = { uncategorized_text: "winning_evidence" };

/** A payment that its buyer disputes. */
async function disputed(of = merchant): Promise<{ id: string; payment: string }> {
  const { dispute, payment } = await disputedPurchase(running, of);
  return { id: dispute, payment };
}

const read = (id: string, as = merchant.apiKey) => api.call("getDispute", 200, { as, path: { id } });
const upload = (id: string, body: Buffer, type: string, as = merchant.apiKey) =>
  ({ as, path: { id }, body, headers: { "content-type": type } }) as const;

// Proves getDispute: response; listDisputes: response
test("docs/contract.md §5: a dispute read alone has its payment's fields and its evidence", async () => {
  const { id, payment } = await disputed();
  const inside = (await api.call("getPayment", 200, { path: { id: payment } })).at("dispute");
  const alone = await read(id);
  const { payment_id, currency, evidence, ...record } = alone.body;
  assert.deepEqual(record, inside);
  assert.deepEqual([payment_id, currency, evidence], [payment, "EUR", { status: "not_submitted" }]);
  const listed = await api.call("listDisputes", 200, { query: { payment_id: payment } });
  assert.deepEqual(listed.list("data"), [alone.body]);
});

// Proves submitDisputeEvidence: body, response, files; uploadDisputeFile: response
test("docs/contract.md §5: evidence with files answers a dispute, which the bank then decides", async () => {
  const { id, payment } = await disputed();
  const bytes = pdfFile();
  const file = await api.call("uploadDisputeFile", 201, upload(id, bytes, "application/pdf"));
  assert.deepEqual(
    ["dispute_id", "type", "size", "sha256"].map((name) => file.at(name)),
    [id, "application/pdf", bytes.length, createHash("sha256").update(bytes).digest("hex")],
  );
  const photo = await api.call("uploadDisputeFile", 201, upload(id, jpegFile(), "image/jpeg"));
  const body = {
    ...winning,
    product_description: "A lemon tree",
    shipping_date: "2025-11-04",
    receipt_file: file.text("id"),
    uncategorized_file: photo.text("id"),
  };
  const answered = await api.call("submitDisputeEvidence", 200, { path: { id }, body });
  const { status, submitted_at, ...sent } = membersOf(answered.at("evidence"));
  assert.deepEqual([status, sent, typeof submitted_at], ["submitted", body, "string"]);
  assert.equal(answered.at("status"), "under_review");
  await api.refused("submitDisputeEvidence", 422, "dispute_not_answerable", { path: { id }, body: winning });
  await eventually("the bank to decide", async () => (await read(id)).at("outcome") === "won");
  const after = await read(id);
  assert.deepEqual([after.at("status"), after.at("evidence.receipt_file")], ["won", file.text("id")]);
  assert.equal((await api.call("getPayment", 200, { path: { id: payment } })).at("status"), "succeeded");
  await api.refused("uploadDisputeFile", 422, "dispute_not_answerable", upload(id, bytes, "application/pdf"));
});

test("docs/contract.md §5: every text and every file has its name", async () => {
  const { id } = await disputed();
  const schema = api.document.operation("submitDisputeEvidence");
  const file = (await api.call("uploadDisputeFile", 201, upload(id, pngFile(), "image/png"))).text("id");
  const body = Object.fromEntries(
    schema.bodyFields.map((name) => [name, name.endsWith("_file") ? file : `words about ${name}`]),
  );
  assert.ok(schema.bodyFields.length >= 25);
  const answered = await api.call("submitDisputeEvidence", 200, { path: { id }, body });
  const { status: _status, submitted_at: _at, ...sent } = membersOf(answered.at("evidence"));
  assert.deepEqual(sent, body);
});

// Proves submitDisputeEvidence: replay, reuse
test("docs/contract.md §6: one key sends evidence once, whatever becomes of the processor's answer", async () => {
  const { id } = await disputed();
  await failProcessor(running, merchant, { target: "api.disputes.evidence", kind: "error_after", count: 1 });
  const sent = { path: { id }, body: winning, headers: { "Idempotency-Key": `evidence-${id}` } };
  const first = await api.call("submitDisputeEvidence", 200, sent);
  assert.ok(["pending", "submitted"].includes(first.text("evidence.status")), first.raw);
  const second = await api.call("submitDisputeEvidence", 200, sent);
  assert.equal(second.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(second.body, first.body);
  await api.refused("submitDisputeEvidence", 422, "idempotency_key_reuse", {
    ...sent,
    body: { uncategorized_text: "losing_evidence" },
  });
  await eventually("the evidence to be there", async () => {
    const dispute = await read(id);
    return dispute.at("evidence.status") === "submitted" && dispute.at("status") === "won";
  });
});

// Proves submitDisputeEvidence: in_flight
test("docs/contract.md §5: concurrent evidence is sent once, also with a concurrent acceptance", async () => {
  const twice = (await disputed()).id;
  const evidence = (id: string, text: string) =>
    merchant.api.post(`/v1/disputes/${id}/evidence`, { uncategorized_text: text });
  const both = await Promise.all([evidence(twice, "one"), evidence(twice, "two")]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 422]);
  const { id } = await disputed();
  await failProcessor(running, merchant, { target: "api.disputes.evidence", kind: "delay", ms: 1_500, count: 1 });
  const key = { "Idempotency-Key": `both-${id}` };
  const slow = merchant.api.post(`/v1/disputes/${id}/evidence`, { uncategorized_text: "late" }, key);
  await eventually("the evidence to be under way", async () => (await read(id)).at("evidence.status") === "pending");
  const again = { path: { id }, body: { uncategorized_text: "late" }, headers: key };
  await api.refused("submitDisputeEvidence", 409, "idempotency_conflict", again);
  const accepted = await api.call("acceptDispute", 200, { path: { id } });
  assert.deepEqual([accepted.at("status"), accepted.at("acceptance")], ["lost", "accepted"]);
  assert.equal((await slow).at("error.code"), "dispute_not_answerable");
  assert.equal((await read(id)).at("evidence.status"), "not_submitted");
});

// Proves acceptDispute: response, replay, decided
test("docs/contract.md §5: an accepted dispute is lost, once, and one that is decided is not accepted", async () => {
  const { id, payment } = await disputed();
  const sent = { path: { id }, headers: { "Idempotency-Key": `accept-${id}` } };
  const first = await api.call("acceptDispute", 200, sent);
  assert.deepEqual(
    ["status", "outcome", "acceptance"].map((name) => first.at(name)),
    ["lost", "lost", "accepted"],
  );
  const second = await api.call("acceptDispute", 200, sent);
  assert.equal(second.headers.get("idempotent-replayed"), "true");
  assert.equal((await api.call("acceptDispute", 200, { path: { id } })).at("status"), "lost");
  await api.refused("acceptDispute", 422, "idempotency_key_reuse", {
    path: { id: (await disputed()).id },
    headers: sent.headers,
  });
  const record = await api.call("getPayment", 200, { path: { id: payment } });
  assert.deepEqual([record.at("status"), record.number("net_amount")], ["disputed", -record.number("fee_amount")]);
  const won = (await disputed()).id;
  await api.call("submitDisputeEvidence", 200, { path: { id: won }, body: winning });
  await api.refused("acceptDispute", 422, "dispute_not_answerable", { path: { id: won } });
});

test("docs/contract.md §5: what became of an acceptance that got no answer is found out", async () => {
  const { id } = await disputed();
  await failProcessor(running, merchant, { target: "api.disputes.accept", kind: "error_after", count: 1 });
  const answer = await api.call("acceptDispute", 200, { path: { id } });
  assert.deepEqual([answer.at("acceptance"), answer.at("status")], ["accepted", "lost"]);
});

// Proves uploadDisputeFile: content, limits
test("docs/contract.md §5: a file is what its bytes are, or it is refused", async () => {
  const { id } = await disputed();
  const refuse = async (body: Buffer, type: string, problem: RegExp) => {
    const answer = await api.refused("uploadDisputeFile", 400, "invalid_body", upload(id, body, type));
    assert.match(answer.text("error.details.0.problem"), problem);
  };
  const html = Buffer.from("<html><script>alert(1)</script></html>");
  await refuse(Buffer.concat([Buffer.from("%PDF-1.7\n"), html]), "application/pdf", /must be a complete PDF/);
  await refuse(pngFile(65_535, 65_535), "image/png", /must be a picture of at most/);
  await refuse(pngFile(), "image/jpeg", /must be a JPEG/);
  await refuse(Buffer.alloc(0), "image/png", /must not be empty/);
  for (const type of ["text/html", "image/svg+xml", "application/json", "image/png, text/html"]) {
    const answer = await api.refused("uploadDisputeFile", 415, "unsupported_media_type", upload(id, html, type));
    assert.match(answer.text("error.message"), /application\/pdf, image\/jpeg or image\/png/);
  }
  await api.refused("uploadDisputeFile", 415, "unsupported_media_type", { path: { id } });
  const large = Buffer.alloc(5 * 1024 * 1024 + 1, 0x20);
  await api.refused("uploadDisputeFile", 413, "payload_too_large", upload(id, large, "application/pdf"));
  const body = new ReadableStream({
    start: (stream) => {
      for (let at = 0; at < large.length; at += 65_536) stream.enqueue(large.subarray(at, at + 65_536));
      stream.close();
    },
  });
  const headers = { authorization: `Bearer ${merchant.apiKey}`, "content-type": "application/pdf" };
  const chunked = { method: "POST", headers, body, duplex: "half" } as const;
  assert.equal((await fetch(`${running.gateway}/v1/disputes/${id}/files`, chunked)).status, 413);
  const whole = pdfFile("x".repeat(1_500_000));
  const file = await api.call("uploadDisputeFile", 201, upload(id, whole, "Application/PDF; x=y"));
  assert.equal(file.at("size"), whole.length);
  for (const [type, name, bytes] of [
    ["image/jpeg", "image/jpg", jpegFile()],
    ["image/jpeg", "image/pjpeg", jpegFile()],
    ["application/pdf", "application/x-pdf", pdfFile()],
  ] as const) {
    const sent = Buffer.concat([bytes, Buffer.alloc(500_000)]);
    const stored = await api.call("uploadDisputeFile", 201, upload(id, sent, name));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    assert.deepEqual(
      [stored.at("type"), stored.at("size"), stored.at("sha256")],
      [type, bytes.length, sha256],
      "what follows the file is cut off",
    );
  }
});

test("docs/contract.md §5: empty and broken uploads do not count towards the dispute's twenty files", async () => {
  const busy = await freshMerchant(running);
  const { id } = await disputed(busy);
  const file = pngFile();
  const { hostname, port } = new URL(running.gateway);
  const cut = async (bytes: number) => {
    const head = [
      `POST /v1/disputes/${id}/files HTTP/1.1`,
      "host: gateway",
      `authorization: Bearer ${busy.apiKey}`,
      "content-type: image/png",
      `content-length: ${file.length}`,
      "expect: 100-continue",
    ];
    const socket = connect(Number(port), hostname);
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    await once(socket, "data"); // 100 Continue: it is being taken
    if (bytes > 0) await new Promise((resolve) => socket.write(file.subarray(0, bytes), resolve));
    // The upload's work before its next byte is done once another request was answered.
    await read(id, busy.apiKey);
    socket.destroy();
  };
  for (let i = 0; i < 20; i++) await cut(i % 2 === 0 ? 0 : 40);
  await api.call("uploadDisputeFile", 201, upload(id, file, "image/png", busy.apiKey));
});

test("docs/contract.md §10: of more than eight uploads at once the rest is refused with the time to wait, and is taken then; orders are taken meanwhile", async () => {
  const busy = await freshMerchant(running);
  const { id } = await disputed(busy);
  const file = pngFile();
  const ends: (() => void)[] = [];
  const begun = Array.from({ length: 8 }, async () => {
    const end = Promise.withResolvers<void>();
    ends.push(end.resolve);
    async function* slowly() {
      yield file.subarray(0, 20);
      await end.promise;
      yield file.subarray(20);
    }
    const headers = { authorization: `Bearer ${busy.apiKey}`, "content-type": "image/png" };
    const init = { method: "POST", headers, body: ReadableStream.from(slowly()), duplex: "half" } as const;
    return (await fetch(`${running.gateway}/v1/disputes/${id}/files`, init)).status;
  });
  await eventually("the room to be taken", async () => {
    const none = Buffer.from("no picture");
    const answer = await busy.api.post(`/v1/disputes/${id}/files`, none, { "content-type": "image/png" });
    if (answer.status !== 503) return false;
    api.document.check("uploadDisputeFile", answer);
    assert.deepEqual([answer.text("error.code"), answer.headers.get("retry-after")], ["service_unavailable", "1"]);
    return true;
  });
  await api.call("createCheckoutSession", 201, { as: busy.apiKey, body: { amount: 1000, currency: "EUR" } });
  // Another merchant's room is another one's.
  await api.call("uploadDisputeFile", 201, upload((await disputed()).id, file, "image/png"));
  for (const end of ends) end();
  assert.deepEqual(await Promise.all(begun), Array(8).fill(201));
  await api.call("uploadDisputeFile", 201, upload(id, file, "image/png", busy.apiKey));
});

test("docs/contract.md §5: a dispute has at most 20 files", async () => {
  const { id } = await disputed();
  // Rejected files do not count, even if found too large midway.
  const large = Buffer.concat([pdfFile(), Buffer.alloc(5 * 1024 * 1024)]);
  const headers = { authorization: `Bearer ${merchant.apiKey}`, "content-type": "application/pdf" };
  const chunked = { method: "POST", headers, body: ReadableStream.from([large]), duplex: "half" } as const;
  assert.equal((await fetch(`${running.gateway}/v1/disputes/${id}/files`, chunked)).status, 413);
  await api.refused("uploadDisputeFile", 400, "invalid_body", upload(id, Buffer.from("x"), "image/png"));
  for (let i = 0; i < 20; i++) await api.call("uploadDisputeFile", 201, upload(id, pngFile(), "image/png"));
  await api.refused("uploadDisputeFile", 422, "too_many_files", upload(id, pngFile(), "image/png"));
});

// Proves submitDisputeEvidence: errors; acceptDispute: errors; getDispute: errors; uploadDisputeFile: errors
test("docs/contract.md §2: another merchant's disputes and files look like unknown ones", async () => {
  const [{ id }, other] = [await disputed(), await freshMerchant(running)];
  const theirs = await disputed(other);
  const foreign = (
    await api.call("uploadDisputeFile", 201, upload(theirs.id, pngFile(), "image/png", other.apiKey))
  ).text("id");
  const tenants: readonly { as?: string; path: { id: string } }[] = [
    { as: other.apiKey, path: { id } },
    { path: { id: unknown } },
    { path: { id: "dp_1" } },
  ];
  for (const sent of tenants) {
    await api.refused("getDispute", 404, "not_found", sent);
    await api.refused("acceptDispute", 404, "not_found", sent);
    await api.refused("submitDisputeEvidence", 404, "not_found", { ...sent, body: winning });
    const file = upload(sent.path.id, pngFile(), "image/png", sent.as);
    await api.refused("uploadDisputeFile", 404, "not_found", file);
  }
  const answers = [];
  for (const receipt_file of [foreign, "file_01jd3v9q6k8m2n4p6r8t0v2x4z"]) {
    answers.push(
      await api.refused("submitDisputeEvidence", 400, "invalid_body", { path: { id }, body: { receipt_file } }),
    );
  }
  assert.deepEqual(answers[0]?.body, answers[1]?.body);
  assert.equal((await read(id)).at("status"), "needs_response");
});

test("docs/contract.md §1: unknown, empty and too long texts are invalid_body and nothing is sent", async () => {
  const { id } = await disputed();
  for (const body of [
    {},
    { colour: "green" },
    { uncategorised_text: "x" },
    { customer_name: "" },
    { customer_name: "x".repeat(501) },
    { uncategorized_text: "x".repeat(20_001) },
    { uncategorized_text: "\u202eevil" },
    { receipt_file: "re_1" },
    { product_description: null },
  ]) {
    await api.refused("submitDisputeEvidence", 400, "invalid_body", { path: { id }, body });
  }
  await api.refused("acceptDispute", 400, "invalid_body", { path: { id }, body: { reason: "x" } });
  assert.equal((await read(id)).at("status"), "needs_response");
  const emoji = { uncategorized_text: "🍋".repeat(10_000) };
  assert.equal(
    (await api.call("submitDisputeEvidence", 200, { path: { id }, body: emoji })).at("status"),
    "under_review",
  );
});

test("nothing that is sent as evidence is in a log, an event or the audit log, refused or not", async () => {
  const { id } = await disputed();
  const secret = "Erika Mustermann, Heidestraße 17";
  const text = { customer_name: secret, uncategorized_text: `${secret} wrote` };
  const bytes = pdfFile(secret);
  await api.call("uploadDisputeFile", 201, upload(id, bytes, "application/pdf"));
  await api.refused("uploadDisputeFile", 400, "invalid_body", upload(id, bytes.subarray(0, 90), "application/pdf"));
  await api.refused("submitDisputeEvidence", 400, "invalid_body", { path: { id }, body: { ...text, colour: secret } });
  await failProcessor(running, merchant, { target: "api.disputes.evidence", kind: "error_after", count: 1 });
  await api.call("submitDisputeEvidence", 200, { path: { id }, body: text });
  const audit = await eventually("its audit entry", async () => {
    const entries = await api.call("listAuditEntries", 200, { query: { object_id: id } });
    return entries.list("data").length > 0 && entries.raw;
  });
  assert.match(audit, /dispute_response.evidence_requested/);
  const logs = ["gateway", "checkout", "payments", "merchant", "webhook", "simulator"];
  const written = await Promise.all(logs.map((name) => readFile(logFile(running, name), "utf8")));
  for (const text of [...written, audit]) assert.ok(!text.includes("Mustermann"));
});

// Proves listDisputes: after, status, due, payment, from, to
test("docs/contract.md §5: the list of disputes is narrowed by status, date, payment and time, with the exact total", async () => {
  const own = await freshMerchant(running);
  const as = own.apiKey;
  const made = [await disputed(own), await disputed(own), await disputed(own)];
  await api.call("acceptDispute", 200, { as, path: { id: made[1]?.id ?? "" } });
  const list = (query: Record<string, string | number>) => api.call("listDisputes", 200, { as, query });
  const all = (await list({})).list("data").map(membersOf);
  const [newest = "", middle = "", oldest = ""] = all.map(({ opened_at }) => String(opened_at));
  const dues = all.map(({ evidence_due_at }) => String(evidence_due_at));
  const later = new Date(Date.parse(dues[0] ?? "") + 86_400_000).toISOString();
  for (const [query, wanted] of [
    [{}, [2, 1, 0]],
    [{ status: "needs_response" }, [2, 0]],
    [{ status: "lost" }, [1]],
    [{ payment_id: made[2]?.payment ?? "" }, [2]],
    [{ payment_id: made[2]?.payment ?? "", status: "lost" }, []],
    [{ from: middle }, [2, 1]],
    [{ to: middle }, [1, 0]],
    [{ from: newest, to: newest }, [2]],
    [{ due_before: dues[1] ?? "" }, [0]],
    [{ due_before: later.slice(0, 10) }, [2, 1, 0]],
    [{ due_before: later, status: "needs_response" }, [2, 0]],
    [{ due_before: oldest }, []],
    [{ limit: 1 }, [2]],
  ] as const) {
    const answer = await list(query);
    const got = answer.list("data").map((item) => made.findIndex(({ id }) => id === membersOf(item).id));
    assert.deepEqual(got, [...wanted], JSON.stringify(query));
    const total = "limit" in query ? 3 : wanted.length;
    assert.deepEqual([answer.at("total"), answer.at("next_cursor")], [total, total > wanted.length ? 1 : 0]);
  }
  const behind = await list({ after: made[2]?.id ?? "", limit: 1 });
  assert.deepEqual([behind.at("data.0.id"), behind.at("has_more"), behind.at("total")], [made[1]?.id, true, 3]);
  for (const query of [{ status: "open" }, { due_before: "soon" }, { from: newest, to: oldest }, { after: unknown }])
    await api.refused("listDisputes", 400, "invalid_body", { as, query });
  await api.refused("listDisputes", 404, "not_found", { query: { payment_id: made[0]?.payment ?? "" } });
  assert.equal((await api.call("listDisputes", 200, { query: { status: "lost" } })).list("data").length > 0, true);
});

test("every described code of these operations was seen", () =>
  // connector_error needs a processor that surely did nothing: flows/disputes.test.ts.
  api.sawEverything(
    ["submitDisputeEvidence connector_error", "acceptDispute connector_error"],
    "listDisputes",
    "getDispute",
    "submitDisputeEvidence",
    "acceptDispute",
    "uploadDisputeFile",
  ));

test.run();
