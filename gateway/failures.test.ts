import assert from "node:assert/strict";
import { Failure, toConnectError } from "#platform/values/failure.ts";
import { Reason } from "#proto/failure/v1/failure_pb.ts";
import { suite } from "../test/harness/suite.ts";
import { ApiError, type ErrorCode, errorAnswer, errorTable, helpLink } from "./failures.ts";

const test = suite("error table");

// docs/contract.md §2.
const contract: Readonly<Record<ErrorCode, number>> = {
  invalid_body: 400,
  unauthorized: 401,
  payment_blocked: 402,
  forbidden: 403,
  feature_disabled: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  session_expired: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  no_connector: 422,
  not_refundable: 422,
  erasure_blocked: 422,
  not_capturable: 422,
  not_cancelable: 422,
  amount_too_large: 422,
  idempotency_key_reuse: 422,
  connector_not_eligible: 422,
  too_many_keys: 422,
  dispute_not_answerable: 422,
  too_many_files: 422,
  rate_limited: 429,
  internal_error: 500,
  connector_error: 502,
  service_unavailable: 503,
};

const messages: Partial<Record<ErrorCode, string>> = {
  unauthorized: "this api key is unknown, expired or revoked",
  invalid_body: "invalid request body",
  payment_blocked: "payment blocked by risk screening",
  no_connector: "no active connector",
  idempotency_key_reuse: "idempotency key reused with a different request",
  idempotency_conflict: "a request with this idempotency key is in progress",
  connector_error: "connector request failed",
  feature_disabled: "refunds are disabled",
  not_found: "not found",
  not_refundable: "payment is not refundable",
  amount_too_large: "amount exceeds refundable balance",
  forbidden: "this api key lacks the required scope",
  session_expired: "checkout session has expired",
};

test("has the contract's status and message for every code", () => {
  assert.deepEqual(Object.fromEntries(Object.entries(errorTable).map(([code, row]) => [code, row.status])), contract);
  for (const [code, row] of Object.entries(errorTable)) {
    const message = Object.entries(messages).find(([name]) => name === code)?.[1];
    if (message !== undefined) assert.equal(row.message, message);
  }
});

test("allows a retry of the same request after 409, 429, 502 and 503 only", () => {
  for (const row of Object.values(errorTable))
    assert.equal(row.retry ?? false, [409, 429, 502, 503].includes(row.status));
});

// Faults between our own processes, which a public caller cannot correct.
const betweenServices = new Set<string>(["CALLER_UNKNOWN", "CALLER_REFUSED", "TOO_MANY_CALLS", "UNAUTHORIZED"]);

test("maps every internal reason to a code, with Retry-After only where a retry is allowed", () => {
  for (const name of Object.keys(Reason)) {
    const reason = Object.keys(Reason).find(
      (known): known is Failure["reason"] => known === name && known !== "UNSPECIFIED",
    );
    if (!reason) continue;
    const answer = errorAnswer(new Failure(reason, { retryAfterMs: 1_500 }));
    const { code } = answer.body.error;
    assert.equal(code, betweenServices.has(reason) ? "internal_error" : reason.toLowerCase());
    assert.equal(answer.headers["retry-after"], errorTable[code].retry ? "2" : undefined);
  }
});

test("marks a replayed refusal, also after it passed between services", () => {
  const stored = toConnectError(new Failure("PAYMENT_BLOCKED", { replayed: true }));
  const link = helpLink("payment_blocked");
  assert.deepEqual(errorAnswer(stored).headers, { link, "idempotent-replayed": "true" });
  assert.deepEqual(errorAnswer(new Failure("PAYMENT_BLOCKED")).headers, { link });
});

test("never contains the cause of an error", () => {
  const answer = errorAnswer(new Error("password=hunter2 at db:5432"));
  assert.deepEqual(answer.body, { error: { code: "internal_error", message: "internal error" } });
});

test("adds up to 20 details, to invalid_body only", () => {
  const violations = Array.from({ length: 30 }, (_, i) => ({ field: `f${i}`, problem: "is required" }));
  assert.equal(errorAnswer(new ApiError("invalid_body", { violations })).body.error.details?.length, 20);
  assert.equal(errorAnswer(new ApiError("not_found", { violations })).body.error.details, undefined);
});

test.run();
