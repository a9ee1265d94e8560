import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import { ApiKeySchema, AuthenticateKeyResponseSchema, Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { suite } from "../test/harness/suite.ts";
import { Principals } from "./principal.ts";

const test = suite("principals");
const key = `sk_test_${"a".repeat(46)}`;

/** Answers look-ups by hand, so that a test decides what happens while one is under way. */
function desk(options: { hearing?: () => boolean } = {}) {
  const waiting: PromiseWithResolvers<void>[] = [];
  let lookupCount = 0;
  let answer = (): Failure | { keyId: string; expiresAtMs?: number } => ({ keyId: "ak_1" });
  const principals = new Principals(
    {
      authenticateKey: async () => {
        lookupCount += 1;
        const result = answer();
        await waiting.shift()?.promise;
        if (result instanceof Failure) throw result;
        const { keyId, expiresAtMs } = result;
        const expiry = expiresAtMs === undefined ? {} : { expiresAt: timestampFromMs(expiresAtMs) };
        const apiKey = create(ApiKeySchema, { id: keyId, environment: Environment.SANDBOX, scopes: [], ...expiry });
        return create(AuthenticateKeyResponseSchema, { apiKey, merchantId: "mer_1", merchantStatus: "active" });
      },
    },
    options.hearing ?? (() => true),
  );
  return {
    principals,
    lookupCount: () => lookupCount,
    answers: (next: typeof answer) => {
      answer = next;
    },
    hold: () => {
      const gate = Promise.withResolvers<void>();
      waiting.push(gate);
      return gate;
    },
  };
}

test("a known key costs one look-up, also when its first requests come together", async () => {
  const { principals, lookupCount } = desk();
  await Promise.all(Array.from({ length: 20 }, () => principals.of(key)));
  assert.equal((await principals.of(key))?.keyId, "ak_1");
  assert.equal(lookupCount(), 1);
});

test("a revoked key is asked for again after its event, and so is every key of a changed merchant", async () => {
  const { principals, answers, lookupCount } = desk();
  await principals.of(key);
  principals.dropKey("ak_other");
  await principals.of(key);
  assert.equal(lookupCount(), 1);
  answers(() => new Failure("UNAUTHORIZED"));
  principals.dropKey("ak_1");
  assert.equal(await principals.of(key), undefined);
  const other = desk();
  await other.principals.of(key);
  other.principals.dropMerchant("mer_1");
  await other.principals.of(key);
  assert.equal(other.lookupCount(), 2);
});

test("an answer that was under way when the key was revoked is not kept", async () => {
  const { principals, answers, hold } = desk();
  const gate = hold();
  const early = principals.of(key);
  answers(() => new Failure("UNAUTHORIZED"));
  principals.dropKey("ak_1");
  gate.resolve();
  await early;
  assert.equal(await principals.of(key), undefined);
});

test("while events may be missed, a key is trusted for no more than a moment", async () => {
  let hearing = true;
  const { principals, lookupCount } = desk({ hearing: () => hearing });
  await principals.of(key);
  hearing = false;
  const before = performance.now;
  performance.now = () => before.call(performance) + 1_100;
  try {
    await principals.of(key);
  } finally {
    performance.now = before;
  }
  assert.equal(lookupCount(), 2);
});

test("a key that was found revoked while events may be missed is not believed again when they are heard", async () => {
  let hearing = true;
  const { principals, answers } = desk({ hearing: () => hearing });
  await principals.of(key);
  hearing = false;
  const before = performance.now;
  performance.now = () => before.call(performance) + 1_100;
  try {
    answers(() => new Failure("UNAUTHORIZED"));
    assert.equal(await principals.of(key), undefined);
    hearing = true;
    assert.equal(await principals.of(key), undefined);
  } finally {
    performance.now = before;
  }
});

test("a key is not trusted beyond its expiry", async () => {
  const { principals, answers, lookupCount } = desk();
  answers(() => ({ keyId: "ak_1", expiresAtMs: Date.now() - 1 }));
  await principals.of(key);
  await principals.of(key);
  assert.equal(lookupCount(), 2);
});

test("junk is refused without a look-up, and a wrong key is looked up once", async () => {
  const { principals, answers, lookupCount } = desk();
  for (const junk of ["", "sk_test_x", `${key}a`, key.replace("test", "prod"), `${key.slice(0, -1)}-`]) {
    assert.equal(await principals.of(junk), undefined);
  }
  assert.equal(lookupCount(), 0);
  answers(() => new Failure("UNAUTHORIZED"));
  await principals.of(key);
  await principals.of(key);
  assert.equal(lookupCount(), 1);
});

test("a look-up that fails says nothing about the key", async () => {
  const { principals, answers } = desk();
  answers(() => new Failure("SERVICE_UNAVAILABLE"));
  await assert.rejects(principals.of(key), Failure);
  answers(() => ({ keyId: "ak_1" }));
  assert.equal((await principals.of(key))?.keyId, "ak_1");
});

test("a flood of keys does not grow the memory without end", async () => {
  const { principals, lookupCount } = desk();
  for (let i = 0; i < 10_500; i++) await principals.of(`sk_test_${String(i).padStart(46, "0")}`);
  const before = lookupCount();
  await principals.of(`sk_test_${"0".padStart(46, "0")}`);
  assert.equal(lookupCount(), before + 1); // the oldest made room
});

test("the guard stands before a key that nobody has shown to be good, and before no other", async () => {
  const { principals, answers } = desk();
  let guarded = 0;
  const ask = (apiKey: string) =>
    principals.of(apiKey, (lookup) => {
      guarded += 1;
      return lookup();
    });
  await ask(key);
  await ask(key);
  assert.equal(guarded, 1, "the first look-up of a key");
  const junk = `sk_test_${"b".repeat(46)}`;
  answers(() => new Failure("UNAUTHORIZED"));
  await ask(junk);
  await ask(junk);
  assert.equal(guarded, 3, "a key that is known to be unknown is guarded, too");
  assert.equal((await ask(key))?.keyId, "ak_1");
  assert.equal(guarded, 3);
});

test("a burst with a key that is not known yet is one look-up to the guard", async () => {
  const { principals, lookupCount } = desk();
  let guarded = 0;
  const guard = async <T>(ask: () => Promise<T>): Promise<T> => {
    guarded += 1;
    return await ask();
  };
  const found = await Promise.all(Array.from({ length: 100 }, () => principals.of(key, guard)));
  assert.ok(found.every((principal) => principal?.keyId === "ak_1"));
  assert.deepEqual([guarded, lookupCount()], [1, 1]);
});

test("a good key that has expired meanwhile is guarded like an unknown one", async () => {
  const { principals, answers } = desk();
  answers(() => ({ keyId: "ak_1", expiresAtMs: Date.now() - 1 }));
  await principals.of(key);
  answers(() => new Failure("UNAUTHORIZED"));
  await principals.of(key);
  let guarded = 0;
  await principals.of(key, (lookup) => {
    guarded += 1;
    return lookup();
  });
  assert.equal(guarded, 1);
});

test.run();
