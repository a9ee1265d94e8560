// Responses to disputes, on a real PostgreSQL with a scripted processor: which calls are made and what each answer
// leads to, in every order and with lost answers.
import assert from "node:assert/strict";
import { type Id, newId } from "#platform/values/id.ts";
import type { DisputeReport } from "../../../services/payments/connectors/connector.ts";
import { acceptDispute } from "../../../services/payments/flows/disputes/accept-dispute.ts";
import {
  appendDisputeFile,
  beginDisputeFile,
  finishDisputeFile,
} from "../../../services/payments/flows/disputes/add-file.ts";
import { submitEvidence } from "../../../services/payments/flows/disputes/submit-evidence.ts";
import { resolveOperation } from "../../../services/payments/flows/resolve-operation.ts";
import { driveOperations } from "../../../services/payments/jobs/reconcile.ts";
import { findDisputeRecord } from "../../../services/payments/lists/disputes.ts";
import type { DisputeStatus } from "../../../services/payments/rules/dispute.ts";
import { sweepFiles } from "../../../services/payments/store/disputes/dispute-files.ts";
import { pdfFile, pngFile } from "../../harness/files/sample-files.ts";
import { suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { capturedFact, keyLifeSeconds, noAnswer, notSent, owner, playedPayments } from "./played.ts";

const test = suite("answers to disputes", { timeoutMs: 20_000 });

const played = playedPayments(test);

interface Open {
  readonly id: string;
  readonly paymentId: Id<"payment">;
  report(status: DisputeStatus, evidenceReference?: string): DisputeReport;
}

/** A paid payment with an open dispute. */
async function disputed(status: DisputeStatus = "needs_response"): Promise<Open> {
  const paymentId = await played.payment();
  const ref = `dsp_${paymentId}`;
  const report = (now: DisputeStatus, evidenceReference = ""): DisputeReport => ({
    ref,
    amount: 400n,
    status: now,
    reason: "fraudulent",
    openedAt: new Date("2026-02-01T00:00:00Z"),
    evidenceDueAt: new Date("2026-02-08T00:00:00Z"),
    evidenceReference,
  });
  await played.settleReport(paymentId, { facts: [capturedFact()], disputes: [report(status)] });
  await played.db.rows("update operations set state = 'done' where payment_id = $1", [paymentId]);
  const [row] = await played.db.rows<{ id: string }>("select id from disputes where payment_id = $1", [paymentId]);
  return { id: row?.id ?? "", paymentId, report };
}

const keyOf = (operation: string, key: string) => ({
  ...owner,
  operation,
  key,
  fingerprint: Buffer.alloc(32, 1),
});
const texts = { uncategorized_text: "It was delivered." };

function submit(disputeId: string, key?: string, files: Record<string, string> = {}) {
  const idempotency = key === undefined ? undefined : keyOf("submit_evidence", key);
  return submitEvidence(played.deps, { ...owner, disputeId, texts, files, idempotency });
}

function accept(disputeId: string, key?: string) {
  const idempotency = key === undefined ? undefined : keyOf("accept_dispute", key);
  return acceptDispute(played.deps, { ...owner, disputeId, idempotency });
}

async function upload(disputeId: string, bytes: Buffer, type: "application/pdf" | "image/png"): Promise<string> {
  const fileId = newId("file");
  await beginDisputeFile(played.db, owner, { disputeId, fileId, type });
  await appendDisputeFile(played.db, owner, { fileId, number: 0, bytes });
  return (await finishDisputeFile(played.db, owner, { fileId, size: bytes.length })).id;
}

/** Status, evidence and acceptance, as the merchant reads them. */
async function stateOf(id: string): Promise<string> {
  const record = await findDisputeRecord(played.db, owner, id);
  return `${record?.status}, ${record?.evidence.status}, ${record?.acceptance || "not accepted"}`;
}

async function evidenceOf(disputeId: string): Promise<string> {
  const [row] = await played.db.rows<{ id: string }>(
    "select id from dispute_evidence where dispute_id = $1 order by created_at desc limit 1",
    [disputeId],
  );
  return row?.id ?? "";
}

async function reconciled(paymentId: string): Promise<void> {
  await played.due(paymentId);
  await driveOperations({ ...played.deps } as Parameters<typeof driveOperations>[0]);
}

test("evidence without an answer is pending, is looked up by its reference, and is sent once", async () => {
  const open = await disputed();
  const answer = await submit(open.id, "lost");
  assert.equal(answer.dispute?.evidence?.status, "pending");
  assert.equal(await stateOf(open.id), "needs_response, pending, not accepted");
  await assert.rejects(submit(open.id, "another"), isRefusal("DISPUTE_NOT_ANSWERABLE"));
  assert.deepEqual(played.calls, ["submitEvidence", "retrieveDispute"]);
  const reference = await evidenceOf(open.id);
  played.answers.retrieveDispute = () => ({ kind: "succeeded", value: open.report("under_review", reference) });
  await reconciled(open.paymentId);
  assert.deepEqual(played.calls, ["submitEvidence", "retrieveDispute", "retrieveDispute"]);
  assert.equal(await stateOf(open.id), "under_review, submitted, not accepted");
});

test("the reference of another submission proves nothing", async () => {
  const open = await disputed();
  await submit(open.id);
  const foreign = newId("evidence");
  played.answers.retrieveDispute = () => ({ kind: "succeeded", value: open.report("under_review", foreign) });
  await reconciled(open.paymentId);
  assert.equal(await stateOf(open.id), "needs_response, pending, not accepted");
});

test("unsent evidence is an error, and a repeat of the request sends it", async () => {
  const open = await disputed();
  played.answers.submitEvidence = () => notSent;
  await assert.rejects(submit(open.id, "later"), isRefusal("CONNECTOR_ERROR"));
  assert.equal(await stateOf(open.id), "needs_response, not_submitted, not accepted");
  played.answers = {
    submitEvidence: () => ({ kind: "succeeded", value: open.report("under_review") }),
    retrieveDispute: () => ({ kind: "not_found", at: new Date(), cause: "it has other evidence" }),
  };
  assert.equal((await submit(open.id, "later")).dispute?.evidence?.status, "submitted");
  const [row] = await played.db.rows<{ n: string }>(
    "select count(*) as n from dispute_evidence where dispute_id = $1",
    [open.id],
  );
  assert.equal(row?.n, "1", "the same submission");
});

test("declined evidence is not submitted: a decided dispute, or content that the processor refuses", async () => {
  const open = await disputed();
  for (const [code, reason] of [
    ["not_answerable", "DISPUTE_NOT_ANSWERABLE"],
    ["evidence_not_accepted", "INVALID_BODY"],
  ] as const) {
    played.answers.submitEvidence = () => ({ kind: "declined", code, message: "no" });
    await assert.rejects(submit(open.id, code), isRefusal(reason));
    assert.equal(await stateOf(open.id), "needs_response, not_submitted, not accepted");
  }
  played.calls.length = 0;
  await assert.rejects(submit(open.id, "not_answerable"), isRefusal("DISPUTE_NOT_ANSWERABLE"));
  assert.deepEqual(played.calls, [], "the refusal is stored with its key");
});

test("an inquiry that becomes a dispute takes new evidence; declined evidence does not hide what was sent", async () => {
  const open = await disputed("warning_needs_response");
  played.answers.submitEvidence = () => ({ kind: "succeeded", value: open.report("warning_under_review") });
  await submit(open.id);
  await played.settleReport(open.paymentId, { facts: [capturedFact()], disputes: [open.report("needs_response")] });
  played.answers.submitEvidence = () => ({ kind: "declined", code: "evidence_not_accepted", message: "no" });
  await assert.rejects(submit(open.id), isRefusal("INVALID_BODY"));
  const record = await findDisputeRecord(played.db, owner, open.id);
  assert.deepEqual([record?.evidence.status, record?.evidence.texts], ["submitted", texts]);
  played.answers.submitEvidence = () => ({ kind: "succeeded", value: open.report("under_review") });
  await submit(open.id);
  assert.equal(await stateOf(open.id), "under_review, submitted, not accepted");
});

test("files are uploaded once, however often their evidence is tried", async () => {
  const open = await disputed();
  const files = {
    receipt_file: await upload(open.id, pdfFile(), "application/pdf"),
    uncategorized_file: await upload(open.id, pngFile(), "image/png"),
  };
  let uploads = 0;
  played.answers.uploadFile = () => (++uploads === 2 ? noAnswer : { kind: "succeeded", value: `file_at_${uploads}` });
  assert.equal((await submit(open.id, "files", files)).dispute?.evidence?.status, "pending");
  assert.deepEqual(played.calls, ["uploadFile", "uploadFile"], "no evidence is sent before all files are uploaded");
  played.answers.retrieveDispute = () => ({ kind: "not_found", at: new Date(), cause: "none" });
  await reconciled(open.paymentId);
  played.answers.submitEvidence = () => ({ kind: "succeeded", value: open.report("under_review") });
  await reconciled(open.paymentId);
  assert.equal(uploads, 3);
  const refs = await played.db.rows<{ ref: string }>(
    "select connector_ref as ref from dispute_files where dispute_id = $1 order by id",
    [open.id],
  );
  assert.deepEqual(refs, [{ ref: "file_at_1" }, { ref: "file_at_3" }]);
  assert.equal(await stateOf(open.id), "under_review, submitted, not accepted");
});

test("evidence counts as not submitted only when its absence is proved by the processor's clock", async () => {
  const open = await disputed();
  const began = Date.now();
  await submit(open.id);
  const absentAt = (seconds: number) => () => ({
    kind: "not_found",
    at: new Date(began + seconds * 1_000),
    cause: new Error("none"),
  });
  // The key is too old to be sent again.
  await played.db.rows("update operations set key_since = now() - make_interval(secs => $2) where payment_id = $1", [
    open.paymentId,
    keyLifeSeconds,
  ]);
  for (const [at, wanted] of [
    [0, "pending"],
    [keyLifeSeconds - 1, "pending"],
    [keyLifeSeconds + 1, "not_submitted"],
  ] as const) {
    played.answers.retrieveDispute = absentAt(at);
    await reconciled(open.paymentId);
    assert.equal(await stateOf(open.id), `needs_response, ${wanted}, not accepted`);
  }
  assert.deepEqual(
    played.calls.filter((call) => call === "submitEvidence"),
    ["submitEvidence"],
  );
});

test("an acceptance that was not sent or was declined leaves the dispute open", async () => {
  const open = await disputed();
  played.answers.acceptDispute = () => notSent;
  await assert.rejects(accept(open.id), isRefusal("CONNECTOR_ERROR"));
  assert.equal(await stateOf(open.id), "needs_response, not_submitted, not accepted");
  played.answers.acceptDispute = () => ({ kind: "declined", code: "not_answerable", message: "under review" });
  await assert.rejects(accept(open.id), isRefusal("DISPUTE_NOT_ANSWERABLE"));
  assert.equal(await stateOf(open.id), "needs_response, not_submitted, not accepted");
});

test("an unsent try ends neither evidence nor acceptance that another run has tried meanwhile", async () => {
  const open = await disputed();
  played.answers.submitEvidence = async () => {
    await played.db.rows("update operations set tries = 1 where payment_id = $1", [open.paymentId]);
    return notSent;
  };
  assert.equal((await submit(open.id)).dispute?.evidence?.status, "pending");
  played.answers.acceptDispute = played.answers.submitEvidence;
  assert.equal((await accept(open.id)).dispute?.acceptance, "pending");
});

test("a repeated piece changes nothing, a complete file takes no more, and an incomplete one is deleted", async () => {
  const { id: disputeId } = await disputed();
  const fileId = newId("file");
  const [bytes, begin] = [pdfFile(), { disputeId, fileId, type: "application/pdf" } as const];
  const half = Math.floor(bytes.length / 2);
  for (let i = 0; i < 2; i++) {
    await beginDisputeFile(played.db, owner, begin);
    await appendDisputeFile(played.db, owner, { fileId, number: 0, bytes: bytes.subarray(0, half) });
    await appendDisputeFile(played.db, owner, { fileId, number: 1, bytes: bytes.subarray(half) });
  }
  const file = await finishDisputeFile(played.db, owner, { fileId, size: bytes.length });
  assert.deepEqual(await finishDisputeFile(played.db, owner, { fileId, size: bytes.length }), file);
  await assert.rejects(appendDisputeFile(played.db, owner, { fileId, number: 2, bytes }), isRefusal("NOT_FOUND"));
  const [shorter, image] = [newId("file"), pngFile()];
  await beginDisputeFile(played.db, owner, { disputeId, fileId: shorter, type: "image/png" });
  await appendDisputeFile(played.db, owner, { fileId: shorter, number: 0, bytes: image });
  const tooFew = finishDisputeFile(played.db, owner, { fileId: shorter, size: image.length + 1 });
  await assert.rejects(tooFew, isRefusal("INVALID_BODY"), "a piece is missing");
  const lacking = newId("file");
  await beginDisputeFile(played.db, owner, { ...begin, fileId: lacking });
  await appendDisputeFile(played.db, owner, { fileId: lacking, number: 1, bytes });
  await assert.rejects(
    finishDisputeFile(played.db, owner, { fileId: lacking, size: bytes.length }),
    isRefusal("INVALID_BODY"),
  );
  await assert.rejects(finishDisputeFile(played.db, owner, { fileId: lacking, size: 1 }), isRefusal("NOT_FOUND"));
});

test("the sweep deletes unfinished files after minutes, drafts after 30 days, and only the bytes of sent files", async () => {
  const [draft, sent, pending] = [await disputed(), await disputed(), await disputed()];
  const unfinished = newId("file");
  await beginDisputeFile(played.db, owner, { disputeId: draft.id, fileId: unfinished, type: "image/png" });
  await appendDisputeFile(played.db, owner, { fileId: unfinished, number: 0, bytes: pngFile() });
  const files = {
    draft: await upload(draft.id, pngFile(), "image/png"),
    sent: await upload(sent.id, pngFile(), "image/png"),
    underWay: await upload(pending.id, pngFile(), "image/png"),
  };
  played.answers.uploadFile = () => ({ kind: "succeeded", value: "file_1" });
  played.answers.submitEvidence = () => ({ kind: "succeeded", value: sent.report("under_review") });
  await submit(sent.id, undefined, { receipt_file: files.sent });
  played.answers = {};
  await submit(pending.id, undefined, { receipt_file: files.underWay });
  const age = (days: number) =>
    played.db.rows("update dispute_files set created_at = now() - make_interval(days => $1, mins => 6)", [days]);
  const left = async () => {
    await sweepFiles(played.db);
    const rows = await played.db.rows<{ id: string; pieces: string }>(
      `select f.id, (select count(*) from dispute_file_pieces p where p.file_id = f.id) as pieces from dispute_files f
       where f.dispute_id = any($1) order by f.id`,
      [[draft.id, sent.id, pending.id]],
    );
    const nameOf = (id: string) => Object.entries(files).find(([, file]) => file === id)?.[0] ?? "unfinished";
    return rows.map(({ id, pieces }) => `${nameOf(id)} ${pieces}`).toSorted();
  };
  assert.deepEqual(await left(), ["draft 1", "sent 1", "underWay 1", "unfinished 1"]);
  await age(29);
  assert.deepEqual(await left(), ["draft 1", "sent 1", "underWay 1"]);
  await age(30);
  assert.deepEqual(await left(), ["sent 0", "underWay 1"], "pending evidence needs its bytes");
});

test("an operator resolves parked evidence and acceptances after one more question to the processor", async () => {
  const open = await disputed();
  await submit(open.id);
  await accept(open.id);
  await played.db.rows("update operations set state = 'parked' where payment_id = $1", [open.paymentId]);
  const operations = await played.db.rows<{ id: string; kind: string }>(
    "select id, kind from operations where payment_id = $1 and kind <> 'create_intent' order by kind",
    [open.paymentId],
  );
  const [acceptance, evidence] = operations;
  const resolver = { operator: "ops@example.com", proof: "seen at the dashboard" };
  played.answers.retrieveDispute = () => ({ kind: "succeeded", value: open.report("lost") });
  await assert.rejects(
    resolveOperation(played.deps, { ...resolver, operationId: acceptance?.id ?? "", connectorRef: undefined }),
    isRefusal("INVALID_BODY"),
    "the processor reports it as lost",
  );
  played.answers.retrieveDispute = () => noAnswer;
  await resolveOperation(played.deps, { ...resolver, operationId: acceptance?.id ?? "", connectorRef: undefined });
  await resolveOperation(played.deps, { ...resolver, operationId: evidence?.id ?? "", connectorRef: "dsp_1" });
  assert.equal(await stateOf(open.id), "needs_response, submitted, not accepted");
});

test.run();
