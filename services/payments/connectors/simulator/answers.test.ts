// What the simulator's answers prove, each given as it came: to a command, to a question, and to a search by our
// reference.
import assert from "node:assert/strict";
import { suite } from "../../../../test/harness/suite.ts";
import type { RefundReport } from "../connector.ts";
import type { HttpAnswer } from "../http.ts";
import { commandAnswer, questionAnswer, refundAnswer, searchAnswer } from "./answers.ts";

const test = suite("what the simulator's answers prove");
const date = "Sun, 22 Nov 2026 10:00:00 GMT";
const silent: HttpAnswer = { kind: "silent", cause: new Error("no answer") };
const unsent: HttpAnswer = { kind: "unsent", cause: new Error("nobody there") };

function answered(status: number, body: unknown): HttpAnswer {
  return { kind: "answered", status, headers: { date }, body };
}

/** A refusal in the processor's own words. */
function refused(status: number, code: string): HttpAnswer {
  return answered(status, { error: { type: "invalid_request", code, message: "No." } });
}

function idOf(body: unknown): string {
  if (typeof body === "object" && body !== null && "id" in body) return String(body.id);
  throw new Error("no object");
}

const toCommand = (answer: HttpAnswer) => {
  const result = commandAnswer(answer, idOf);
  return result.kind === "declined" ? result.code : result.kind;
};
const toQuestion = (answer: HttpAnswer) => questionAnswer(answer, idOf).kind;

test("a command that got no answer may have been done, and one that never left was not", () => {
  assert.equal(toCommand(silent), "unknown");
  assert.equal(toCommand(unsent), "not_sent");
});

test("a command is refused only by the processor's own word that it will not be done", () => {
  assert.equal(toCommand(refused(400, "amount_too_large")), "amount_too_large");
  assert.equal(toCommand(refused(400, "parameter_invalid")), "refused");
  for (const status of [408, 409, 425, 429, 500, 502, 503]) {
    assert.equal(toCommand(refused(status, "internal_error")), "unknown", String(status));
  }
});

test("a refusal that is not in the processor's own words is an edge's, and proves nothing", () => {
  for (const body of [undefined, {}, { error: "Bad Request" }, { error: { message: "Bad Request" } }]) {
    for (const status of [400, 401, 403, 404]) {
      assert.equal(toCommand(answered(status, body)), "unknown", `${status} ${JSON.stringify(body)}`);
    }
  }
});

test("a key that was used for another order is no refusal: the first order may have been carried out", () => {
  assert.equal(toCommand(refused(400, "idempotency_key_reused")), "unknown");
});

test("an object is missing only where the processor says so, and an edge's 404 does not", () => {
  const missing = questionAnswer(refused(404, "resource_missing"), idOf);
  assert.equal(missing.kind === "not_found" && missing.at?.toISOString(), "2026-11-22T10:00:00.000Z");
  for (const answer of [silent, unsent, refused(404, "unknown_url"), refused(400, "resource_missing")]) {
    assert.equal(toQuestion(answer), "unknown");
  }
  for (const body of [undefined, {}, { error: "Not found" }]) assert.equal(toQuestion(answered(404, body)), "unknown");
});

test("nothing is found only in a list that was read, with the time at which it was", () => {
  const empty = searchAnswer(answered(200, { data: [] }), idOf);
  assert.equal(empty.kind === "not_found" && empty.at?.toISOString(), "2026-11-22T10:00:00.000Z");
  const noList = [silent, unsent, refused(404, "resource_missing"), refused(500, "internal_error"), answered(200, {})];
  for (const answer of noList) assert.equal(searchAnswer(answer, idOf).kind, "unknown");
});

test("of several objects under our reference the first of the processor's list, its oldest, is ours", () => {
  const both = searchAnswer(answered(200, { data: [{ id: "pi_1" }, { id: "pi_2" }] }), idOf);
  assert.equal(both.kind === "succeeded" && both.value, "pi_1");
  assert.equal(searchAnswer(answered(200, { data: [{}, { id: "pi_2" }] }), idOf).kind, "unknown", "it cannot be read");
});

test("a refund that the processor has not decided is pending, and every other answer stays what it is", () => {
  const refund = (status: RefundReport["status"]): RefundReport => ({
    ref: "re_1",
    reference: "re_ours",
    amount: 300n,
    status,
    reason: "",
    failureCode: "",
    failureMessage: "",
    createdAt: new Date(0),
  });
  const kindOf = (status: RefundReport["status"]) => refundAnswer({ kind: "succeeded", value: refund(status) }).kind;
  assert.deepEqual((["pending", "succeeded", "failed"] as const).map(kindOf), ["pending", "succeeded", "succeeded"]);
  assert.equal(refundAnswer({ kind: "unknown", cause: undefined }).kind, "unknown");
});

test.run();
