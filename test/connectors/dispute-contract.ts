// The tests of the port's contract about answering disputes, registered by contract.ts.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import {
  type Connector,
  type IntentReport,
  isKnown,
  type ProcessorAccount,
  type ProcessorAnswer,
} from "../../services/payments/connectors/connector.ts";
import type { EvidenceUpload } from "../../services/payments/connectors/order.ts";
import { jpegFile, pdfFile } from "../harness/files/sample-files.ts";
import type { suite } from "../harness/suite.ts";

/** The part of a rig that these tests need. */
interface DisputeRig {
  readonly connector: Connector;
  readonly account: ProcessorAccount;
  readonly unreachable: Connector;
  dispute(ref: string, status: "needs_response" | "warning_needs_response"): Promise<string>;
  settle?(): Promise<void>;
  readonly filesGo: "before" | "with evidence";
  failNext(what: "evidence", trouble: "fault" | "silent"): Promise<void>;
}

function valueIn<T>(answer: ProcessorAnswer<T>): T {
  if (isKnown(answer)) return answer.value;
  throw new Error(`${answer.kind}: ${answer.kind === "declined" ? answer.message : String(answer.cause)}`);
}

/** @param paid makes a paid intent */
export function disputeContract(
  test: ReturnType<typeof suite>,
  rigNow: () => DisputeRig,
  paid: () => Promise<IntentReport>,
): void {
  const key = () => newId("operation");
  const disputed = async (status: "needs_response" | "warning_needs_response" = "needs_response") =>
    await rigNow().dispute((await paid()).ref, status);
  const order = (disputeRef: string) => ({
    disputeRef,
    reference: newId("evidence"),
    texts: { product_description: "A lemon tree", uncategorized_text: "Ünïcode, and 'quotes' & ampersands" },
    files: {},
    uploads: [],
  });
  const fileOf = (bytes: Buffer, type: string, name: string = newId("file")) => {
    const pieces = async function* () {
      for (let at = 0; at < bytes.length; at += 50) yield bytes.subarray(at, at + 50);
    };
    return { name, type, size: bytes.length, pieces };
  };
  const upload = async (file: EvidenceUpload, same: string = key()) =>
    valueIn(await rigNow().connector.uploadFile(rigNow().account, file, same));
  const status = async (ref: string) => valueIn(await rigNow().connector.retrieveDispute(rigNow().account, ref)).status;

  test("a dispute read alone equals the one in its intent, and its evidence is found by our reference", async () => {
    const { connector, account } = rigNow();
    const intent = await paid();
    const ref = await rigNow().dispute(intent.ref, "needs_response");
    const alone = valueIn(await connector.retrieveDispute(account, ref));
    const [inside] = valueIn(await connector.retrieveIntent(account, intent.ref)).disputes;
    assert.deepEqual(alone, inside);
    assert.equal(alone.evidenceReference ?? "", "");
    const unknown = await connector.retrieveDispute(account, "dp_unknown");
    assert.equal(unknown.kind, connector.replaysAnswers ? "unknown" : "not_found");
  });

  test("evidence with files is sent once per key, is found by its reference, and puts the dispute under review", async () => {
    const { connector, account } = rigNow();
    const receipt = fileOf(pdfFile(), "application/pdf");
    const picture = fileOf(jpegFile(), "image/jpeg");
    const files = { receipt_file: await upload(receipt), uncategorized_file: await upload(picture) };
    const [wanted, same] = [{ ...order(await disputed()), files, uploads: [receipt, picture] }, key()];
    const first = valueIn(await connector.submitEvidence(account, wanted, same));
    const again = valueIn(await connector.submitEvidence(account, wanted, same));
    for (const report of [first, again, valueIn(await connector.retrieveDispute(account, wanted.disputeRef))]) {
      assert.deepEqual([report.status, report.evidenceReference], ["under_review", wanted.reference]);
    }
    const other = await connector.submitEvidence(account, order(wanted.disputeRef), key());
    assert.equal(other.kind === "declined" && other.code, "not_answerable", "a second submission");
  });

  test("an inquiry is answered, too", async () => {
    const { connector, account } = rigNow();
    const ref = await disputed("warning_needs_response");
    assert.equal(valueIn(await connector.submitEvidence(account, order(ref), key())).status, "warning_under_review");
  });

  test("one key makes one file, however its bytes come in pieces", async () => {
    const [same, one] = [key(), fileOf(pdfFile("one"), "application/pdf")];
    const first = await upload(one, same);
    assert.equal(await upload(one, same), first);
    assert.notEqual(await upload(fileOf(pdfFile("one"), "application/pdf")), first);
  });

  test("evidence with a file that the processor does not have is refused and leaves the dispute as it was", async () => {
    const { connector, account } = rigNow();
    const ref = await disputed();
    const wanted = { ...order(ref), files: { receipt_file: "file_unknown" } };
    const answer = await connector.submitEvidence(account, wanted, key());
    assert.equal(answer.kind === "declined" && answer.code, "evidence_not_accepted");
    assert.equal(await status(ref), "needs_response");
  });

  test("evidence for a dispute that the processor does not know is refused as for one that is over", async () => {
    const { connector, account } = rigNow();
    const answer = await connector.submitEvidence(account, order("dp_unknown"), key());
    assert.equal(answer.kind === "declined" && answer.code, "not_answerable");
  });

  test("evidence is unknown after a fault or silence, and is found by its reference", async () => {
    const { connector, account } = rigNow();
    const wanted = order(await disputed());
    await rigNow().failNext("evidence", "fault");
    assert.equal((await connector.submitEvidence(account, wanted, key())).kind, "unknown");
    assert.equal(await status(wanted.disputeRef), "needs_response");
    await rigNow().failNext("evidence", "silent");
    assert.equal((await connector.submitEvidence(account, wanted, key())).kind, "unknown");
    await rigNow().settle?.();
    const found = valueIn(await connector.retrieveDispute(account, wanted.disputeRef));
    assert.deepEqual([found.evidenceReference, found.status], [wanted.reference, "under_review"]);
  });

  test("a dispute that is conceded is lost, however often it is asked for; one under review is not conceded", async () => {
    const { connector, account } = rigNow();
    const ref = await disputed();
    for (let i = 0; i < 2; i++) assert.equal(valueIn(await connector.acceptDispute(account, ref)).status, "lost");
    const late = await connector.submitEvidence(account, order(ref), key());
    assert.equal(late.kind === "declined" && late.code, "not_answerable");
    const answered = await disputed();
    valueIn(await connector.submitEvidence(account, order(answered), key()));
    const refused = await connector.acceptDispute(account, answered);
    assert.equal(refused.kind === "declined" && refused.code, "not_answerable");
    assert.equal(await status(answered), "under_review");
  });

  test("an answer to a dispute that could not be sent did not happen", async () => {
    const { unreachable, account } = rigNow();
    assert.equal((await unreachable.acceptDispute(account, "dp_1")).kind, "not_sent");
    assert.equal((await unreachable.submitEvidence(account, order("dp_1"), key())).kind, "not_sent");
    const file = fileOf(jpegFile(), "image/jpeg");
    const isSent = rigNow().filesGo === "before";
    assert.equal((await unreachable.uploadFile(account, file, key())).kind, isSent ? "not_sent" : "succeeded");
    assert.equal((await unreachable.retrieveDispute(account, "dp_1")).kind, "unknown");
  });
}
