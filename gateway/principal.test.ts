import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import { ApiKeySchema, AuthenticateKeyResponseSchema, Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { suite } from "../test/harness/suite.ts";
import { Principals } from "./principal.ts";

const test = suite("principals");
const key = `sk_test_${"a".repeat(46)}`;

/** Principals with a service whose responses the test controls. */
function setUp(options: { receivesEvents?: () => boolean } = {}) {
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
    options.receivesEvents ?? (() => true),
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

test("looks keys up again after an event of the key or its merchant", async () => {
  const { principals, answers, lookupCount } = setUp();
  await principals.of(key);
  principals.dropKey("ak_other");
  await principals.of(key);
  assert.equal(lookupCount(), 1);
  answers(() => new Failure("UNAUTHORIZED"));
  principals.dropKey("ak_1");
  assert.equal(await principals.of(key), undefined);
  const other = setUp();
  await other.principals.of(key);
  other.principals.dropMerchant("mer_1");
  await other.principals.of(key);
  assert.equal(other.lookupCount(), 2);
});

test("does not cache a lookup that was pending when the key was revoked", async () => {
  const { principals, answers, hold } = setUp();
  const gate = hold();
  const early = principals.of(key);
  answers(() => new Failure("UNAUTHORIZED"));
  principals.dropKey("ak_1");
  gate.resolve();
  await early;
  assert.equal(await principals.of(key), undefined);
});

test("trusts a key for one second while events may be missed, and not again once it was found revoked", async () => {
  let receivesEvents = true;
  const { principals, answers } = setUp({ receivesEvents: () => receivesEvents });
  await principals.of(key);
  receivesEvents = false;
  const before = performance.now;
  performance.now = () => before.call(performance) + 1_100;
  try {
    answers(() => new Failure("UNAUTHORIZED"));
    assert.equal(await principals.of(key), undefined);
    receivesEvents = true;
    assert.equal(await principals.of(key), undefined);
  } finally {
    performance.now = before;
  }
});

test("does not trust a key beyond its expiry", async () => {
  const { principals, answers, lookupCount } = setUp();
  answers(() => ({ keyId: "ak_1", expiresAtMs: Date.now() - 1 }));
  await principals.of(key);
  await principals.of(key);
  assert.equal(lookupCount(), 2);
});

test("refuses malformed keys without a lookup and looks a wrong key up once", async () => {
  const { principals, answers, lookupCount } = setUp();
  for (const junk of ["", "sk_test_x", `${key}a`, key.replace("test", "prod"), `${key.slice(0, -1)}-`]) {
    assert.equal(await principals.of(junk), undefined);
  }
  assert.equal(lookupCount(), 0);
  answers(() => new Failure("UNAUTHORIZED"));
  await principals.of(key);
  await principals.of(key);
  assert.equal(lookupCount(), 1);
});

test("does not cache a failed lookup", async () => {
  const { principals, answers } = setUp();
  answers(() => new Failure("SERVICE_UNAVAILABLE"));
  await assert.rejects(principals.of(key), Failure);
  answers(() => ({ keyId: "ak_1" }));
  assert.equal((await principals.of(key))?.keyId, "ak_1");
});

test("bounds the cache under a flood of keys", async () => {
  const { principals, lookupCount } = setUp();
  for (let i = 0; i < 10_500; i++) await principals.of(`sk_test_${String(i).padStart(46, "0")}`);
  const before = lookupCount();
  await principals.of(`sk_test_${"0".padStart(46, "0")}`);
  assert.equal(lookupCount(), before + 1); // the oldest made room
});

test("runs the guard for keys not known to be valid, and for no others", async () => {
  const { principals, answers } = setUp();
  let guarded = 0;
  const ask = (apiKey: string) =>
    principals.of(apiKey, (lookup) => {
      guarded += 1;
      return lookup();
    });
  await ask(key);
  await ask(key);
  assert.equal(guarded, 1, "the first lookup of a key");
  const junk = `sk_test_${"b".repeat(46)}`;
  answers(() => new Failure("UNAUTHORIZED"));
  await ask(junk);
  await ask(junk);
  assert.equal(guarded, 3, "a key that is cached as unknown");
  assert.equal((await ask(key))?.keyId, "ak_1");
  assert.equal(guarded, 3);
});

test("counts a burst with a new key as one guarded lookup", async () => {
  const { principals, lookupCount } = setUp();
  let guarded = 0;
  const guard = async <T>(ask: () => Promise<T>): Promise<T> => {
    guarded += 1;
    return await ask();
  };
  const found = await Promise.all(Array.from({ length: 100 }, () => principals.of(key, guard)));
  assert.ok(found.every((principal) => principal?.keyId === "ak_1"));
  assert.deepEqual([guarded, lookupCount()], [1, 1]);
});

test("guards a valid key that has since expired", async () => {
  const { principals, answers } = setUp();
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
