import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import type { DisputeStatus } from "./dispute.ts";
import { evidenceFiles, evidenceStatus, evidenceTexts, isAnswerable, judgeEvidence, trimTexts } from "./evidence.ts";

const test = suite("evidence");
const own = new Set(["file_own"]);

test("every text may have at most its limit of characters", () => {
  for (const [name, max] of Object.entries(evidenceTexts)) {
    assert.deepEqual(judgeEvidence({ [name]: "x".repeat(max) }, {}, own), [], name);
    assert.deepEqual(judgeEvidence({ [name]: "x".repeat(max + 1) }, {}, own), [
      { field: name, problem: `must have at most ${max} characters` },
    ]);
  }
});

test("a blank text is refused, and others are trimmed", () => {
  for (const blank of ["", " ", "\t\r\n", "\u00a0\u2003", "\u200b\u2060\ufeff", "\u0301"]) {
    assert.deepEqual(judgeEvidence(trimTexts({ customer_name: blank }), { receipt_file: "file_own" }, own), [
      { field: "customer_name", problem: "must not be blank" },
    ]);
  }
  const texts = { customer_name: " Zoë\u00a0", product_description: "\n商品\n🛒 \n", service_date: "-" };
  assert.deepEqual(trimTexts(texts), { customer_name: "Zoë", product_description: "商品\n🛒", service_date: "-" });
  assert.deepEqual(judgeEvidence(trimTexts(texts), {}, own), []);
});

test("only files of the dispute are accepted, under every known name", () => {
  for (const name of evidenceFiles) {
    assert.deepEqual(judgeEvidence({}, { [name]: "file_own" }, own), []);
    assert.deepEqual(judgeEvidence({}, { [name]: "file_foreign" }, own), [
      { field: name, problem: "must be the id of a file of this dispute" },
    ]);
  }
});

test("unknown names, also those of Object.prototype, and empty evidence are problems", () => {
  for (const field of ["colour", "constructor", "receipt_file"]) {
    assert.deepEqual(judgeEvidence({ [field]: "x" }, {}, own), [{ field, problem: "is not known" }]);
  }
  for (const field of ["toString", "customer_name"]) {
    assert.deepEqual(judgeEvidence({}, { [field]: "file_own" }, own), [{ field, problem: "is not known" }]);
  }
  assert.deepEqual(judgeEvidence({}, {}, own), [{ field: "", problem: "must have at least one text or file" }]);
});

test("a dispute or inquiry is answerable only while it needs a response", () => {
  const statuses: readonly DisputeStatus[] = [
    ...(["warning_needs_response", "warning_under_review", "warning_closed"] as const),
    ...(["needs_response", "under_review", "won", "lost"] as const),
  ];
  assert.deepEqual(statuses.filter(isAnswerable), ["warning_needs_response", "needs_response"]);
});

test("evidence that failed is not submitted, and evidence in doubt is pending", () => {
  const states = [undefined, "failed", "pending", "submitted"] as const;
  assert.deepEqual(states.map(evidenceStatus), ["not_submitted", "not_submitted", "pending", "submitted"]);
});

test.run();
