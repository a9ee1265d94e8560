// Idempotency keys on a database: which request may work under a key, on which object, and which answer is kept.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import {
  type Claim,
  IdempotencyKeys,
  type IdempotencyScope,
  type KeyLease,
  type StoredAnswer,
} from "#platform/database/idempotency.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { type CallContext, callContext } from "#platform/values/call-context.ts";
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";

const test = suite("idempotency keys", { timeoutMs: 60_000 });
const leaseSeconds = 90;

const db = fixture(test, async () => await openDatabase((await freshDatabase("payments")).serviceUrl));
const keys = fixture(test, () => new IdempotencyKeys(db, new Vault(new Map([["k1", randomBytes(32)]])), leaseSeconds));

function scope(change: Partial<IdempotencyScope> = {}): IdempotencyScope {
  const key = randomBytes(8).toString("hex");
  const owner = { merchantId: "mer_test", environment: Environment.SANDBOX };
  return { ...owner, operation: "create_payment", key, fingerprint: Buffer.alloc(32, 1), ...change };
}

async function work(request: IdempotencyScope, objectId: string): Promise<{ objectId: string; lease: KeyLease }> {
  const claim = await keys.claim(request, objectId);
  assert(claim.kind === "work");
  return claim;
}

async function answerOf(request: IdempotencyScope): Promise<StoredAnswer> {
  const claim: Claim = await keys.claim(request, "unused");
  assert(claim.kind === "replay");
  return claim.answer;
}

const storedAnswer = (text: string): StoredAnswer => ({ kind: "response", bytes: Buffer.from(text) });
const within = <T>(requestId: string, body: () => Promise<T>) =>
  callContext.run({ requestId, actor: "", traceparent: "", deadlineMs: undefined } satisfies CallContext, body);

test("one request at a time works under a key, and another takes over only after its lease", async () => {
  const request = scope();
  await work(request, "pay_1");
  await assert.rejects(keys.claim(request, "pay_2"), isRefusal("IDEMPOTENCY_CONFLICT"));
  await db.rows("update idempotency_keys set locked_until = now() - interval '1 second' where key = $1", [request.key]);
  assert.equal((await work(request, "pay_3")).objectId, "pay_1", "with the first object");
});

test("a key of 0.1.0, which names no operation, is found by the operation that made its object", async () => {
  const objects = { create_session: "cs_1", create_payment: "pay_1", refund_payment: "re_1" };
  for (const [operation, objectId] of Object.entries(objects)) {
    const { merchantId, environment, key, fingerprint } = scope();
    await db.rows(
      `insert into idempotency_keys (merchant_id, environment, key, fingerprint, object_id) values ($1, $2, $3, $4, $5)`,
      [merchantId, environment, key, fingerprint, objectId],
    );
    assert.equal((await work(scope({ operation, key }), "other")).objectId, objectId, operation);
  }
});

test("a restored key gets its object and answer, and keeps an answer that it has", async () => {
  const request = scope();
  await work(request, "pay_1");
  assert.equal(await keys.restore(db, request, "pay_1", storedAnswer("made")), false);
  assert.deepEqual(await answerOf(request), storedAnswer("made"));
  await keys.restore(db, request, "pay_2", storedAnswer("another"));
  assert.deepEqual(await answerOf(request), storedAnswer("made"));
  const corrected = { ...scope(), fingerprint: Buffer.alloc(32, 2) };
  await work({ ...corrected, fingerprint: Buffer.alloc(32, 1) }, "pay_3");
  await keys.restore(db, corrected, "pay_4", storedAnswer("corrected"));
  assert.deepEqual(await answerOf(corrected), storedAnswer("corrected"));
  const lost = scope();
  assert.equal(await keys.restore(db, lost, "pay_5"), true);
  assert.equal((await work(lost, "pay_6")).objectId, "pay_5");
});

test("of twenty concurrent requests with a key one works, and the others conflict", async () => {
  const request = scope();
  const claims = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => keys.claim(request, `pay_${i}`)));
  assert.equal(claims.filter(({ status }) => status === "fulfilled").length, 1);
  for (const claim of claims) {
    if (claim.status === "rejected") assert.ok(isRefusal("IDEMPOTENCY_CONFLICT")(claim.reason));
  }
});

test("a retry within the same request takes the key over immediately, and the earlier try stores nothing", async () => {
  const request = scope();
  const [first, second] = await within(
    "req_1",
    async () => [await work(request, "pay_1"), await work(request, "pay_2")] as const,
  );
  assert.equal(second.objectId, "pay_1");
  await assert.rejects(
    keys.finish(db, request, first.lease, storedAnswer("of the first")),
    isRefusal("IDEMPOTENCY_CONFLICT"),
    "a run without the lease stores nothing",
  );
  await keys.finish(db, request, second.lease, storedAnswer("of the second"));
  assert.deepEqual(await answerOf(request), storedAnswer("of the second"));
});

test("a stored answer is returned only for the same request of the same merchant", async () => {
  const request = scope();
  await keys.finish(db, request, (await work(request, "pay_1")).lease, storedAnswer("done"));
  for (let i = 0; i < 2; i++) assert.deepEqual(await answerOf(request), storedAnswer("done"));
  await assert.rejects(
    keys.claim({ ...request, fingerprint: Buffer.alloc(32, 2) }, "pay_2"),
    isRefusal("IDEMPOTENCY_KEY_REUSE"),
  );
  const strangers = [{ merchantId: "mer_other" }, { environment: Environment.LIVE }];
  for (const change of strangers) assert.equal((await work({ ...request, ...change }, "pay_9")).objectId, "pay_9");
});

test("final refusals are kept; after others the key is free for the same object", async () => {
  for (const reason of [
    "PAYMENT_BLOCKED",
    "NO_CONNECTOR",
    "NOT_REFUNDABLE",
    "NOT_CAPTURABLE",
    "NOT_CANCELABLE",
    "AMOUNT_TOO_LARGE",
  ] as const) {
    const request = scope();
    await keys.settleFailure(request, (await work(request, "pay_1")).lease, new Failure(reason));
    assert.deepEqual(await answerOf(request), { kind: "refusal", reason });
  }
  for (const reason of [
    "CONNECTOR_ERROR",
    "SERVICE_UNAVAILABLE",
    "INTERNAL_ERROR",
    "NOT_FOUND",
    "FEATURE_DISABLED",
  ] as const) {
    const request = scope();
    await keys.settleFailure(request, (await work(request, "pay_1")).lease, new Failure(reason));
    assert.equal((await work(request, "pay_2")).objectId, "pay_1", reason);
  }
});

test("a request that was refused for its body can be corrected under the same key", async () => {
  const request = scope();
  await keys.settleFailure(request, (await work(request, "pay_1")).lease, new Failure("INVALID_BODY"));
  assert.equal((await work({ ...request, fingerprint: Buffer.alloc(32, 9) }, "pay_2")).objectId, "pay_2");
});

test("a failure of a run that lost its key does not release the key", async () => {
  const request = scope();
  const [first] = await within(
    "req_2",
    async () => [await work(request, "pay_1"), await work(request, "pay_1")] as const,
  );
  await keys.settleFailure(request, first.lease, new Failure("SERVICE_UNAVAILABLE"));
  await keys.settleFailure(request, first.lease, new Failure("INVALID_BODY"));
  await assert.rejects(keys.claim(request, "pay_2"), isRefusal("IDEMPOTENCY_CONFLICT"));
});

const stepKinds = ["claim", "claimAll", "finish", "refuse", "reject", "fail", "age", "sweep"] as const;
type StepKind = (typeof stepKinds)[number];

/** The expected state of a key: object, lease of the current run, answer. */
interface ExpectedKey {
  readonly objectId: string;
  readonly lease?: KeyLease;
  readonly answer?: string;
  readonly isOld?: boolean;
}

test("each key is answered once in any order of claims, failures, repeats and sweeps", async () => {
  const step = fc.record({ kind: fc.constantFrom(...stepKinds), of: fc.nat({ max: 2 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 30 }), async (steps) => {
      const key = randomBytes(8).toString("hex");
      const requests = ["session", "payment", "refund"].map((operation) => scope({ key, operation }));
      const kept = new Map<number, ExpectedKey>();
      for (const [at, { kind, of }] of steps.entries()) await playStep(requests, kept, kind, of, `obj_${at}`);
      for (const i of requests.keys()) await playStep(requests, kept, "claim", i, `obj_end_${i}`);
    }),
    { numRuns: 100 },
  );
});

async function playStep(
  requests: readonly IdempotencyScope[],
  kept: Map<number, ExpectedKey>,
  kind: StepKind,
  of: number,
  objectId: string,
): Promise<void> {
  const request = requests[of];
  assert(request);
  const now = kept.get(of);
  const release = ({ objectId, isOld }: ExpectedKey): ExpectedKey => ({ objectId, ...(isOld ? { isOld } : {}) });
  if (kind === "claimAll") {
    await Promise.all(requests.map((_, i) => claimAs(requests, kept, i, `${objectId}_${i}`)));
  } else if (kind === "sweep") {
    await keys.sweep();
    for (const [i, { isOld }] of kept) if (isOld) kept.delete(i);
  } else if (kind === "age" && now) {
    await db.rows(
      "update idempotency_keys set created_at = now() - interval '73 hours' where operation = $1 and request_key = $2",
      [request.operation, request.key],
    );
    kept.set(of, { ...now, isOld: true });
  } else if (now?.lease && kind === "finish") {
    await keys.finish(db, request, now.lease, storedAnswer(objectId));
    kept.set(of, { ...release(now), answer: objectId });
  } else if (now?.lease && kind === "refuse") {
    await keys.settleFailure(request, now.lease, new Failure("AMOUNT_TOO_LARGE"));
    kept.set(of, { ...release(now), answer: "AMOUNT_TOO_LARGE" });
  } else if (now?.lease && kind === "reject") {
    await keys.settleFailure(request, now.lease, new Failure("INVALID_BODY"));
    kept.delete(of);
  } else if (now?.lease && kind === "fail") {
    await keys.settleFailure(request, now.lease, new Failure("CONNECTOR_ERROR"));
    kept.set(of, release(now));
  } else if (kind === "claim") await claimAs(requests, kept, of, objectId);
}

/** A claim returns the stored answer, conflicts with a current run, or gets the first object. */
async function claimAs(
  requests: readonly IdempotencyScope[],
  kept: Map<number, ExpectedKey>,
  of: number,
  objectId: string,
): Promise<void> {
  const request = requests[of];
  assert(request);
  const now = kept.get(of);
  if (now?.lease) return await assert.rejects(keys.claim(request, objectId), isRefusal("IDEMPOTENCY_CONFLICT"));
  const claim = await keys.claim(request, objectId);
  if (now?.answer !== undefined) {
    assert(claim.kind === "replay", `${request.operation} works again although it was answered`);
    const { answer } = claim;
    assert.equal(answer.kind === "response" ? Buffer.from(answer.bytes).toString() : answer.reason, now.answer);
    return;
  }
  assert(claim.kind === "work", `${request.operation} replays an answer that it never had`);
  assert.equal(claim.objectId, now?.objectId ?? objectId);
  kept.set(of, { ...now, objectId: claim.objectId, lease: claim.lease });
}

test("a key is kept for three days", async () => {
  const [young, old] = [scope(), scope()];
  for (const one of [young, old]) await keys.finish(db, one, (await work(one, "pay_1")).lease, storedAnswer("done"));
  const aged = (one: IdempotencyScope, hours: number) =>
    db.rows("update idempotency_keys set created_at = now() - make_interval(hours => $2) where key = $1", [
      one.key,
      hours,
    ]);
  await aged(young, 71);
  await aged(old, 73);
  assert.equal(await keys.sweep(), false);
  assert.deepEqual(await answerOf(young), storedAnswer("done"));
  assert.equal((await work(old, "pay_2")).objectId, "pay_2");
});

test.run();
