// Creating an object at a processor exactly once: which calls each answer leads to, and when absence counts as proved.
// A scripted connector answers for the processor.
import assert from "node:assert/strict";
import type {
  Connector,
  CreatedIntent,
  ProcessorAccount,
  ProcessorAnswer,
} from "../../../services/payments/connectors/connector.ts";
import type { IntentOrder } from "../../../services/payments/connectors/order.ts";
import { makeIntent } from "../../../services/payments/flows/make-at-processor.ts";
import { insertPayments } from "../../../services/payments/store/new-payments.ts";
import { findOperation } from "../../../services/payments/store/operations.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { paymentInsert } from "../../harness/payments/payment-insert.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("making an object at a processor", { timeoutMs: 20_000 });
const keyLifeSeconds = 1_000;
const cause = new Error("no answer");
const unknown = { kind: "unknown", cause } as const;
const declined = { kind: "declined", code: "refused", message: "no" } as const;
const created = { kind: "succeeded", value: { report: { ref: "pi_1" } } as CreatedIntent } as const;
const nothing = (at: Date): ProcessorAnswer<never> => ({ kind: "not_found", at, cause });
const began = new Date("2026-01-01T00:00:00Z");
const after = (seconds: number) => new Date(began.getTime() + seconds * 1_000);

const db = fixture(test, async () => await openDatabase((await freshDatabase("payments")).url));

/** An untried operation. The returned function drives it while the processor answers as given, lookups in order. */
async function operation() {
  const wanted = paymentInsert();
  const first = wanted.operation;
  const paymentId = wanted.payment.id;
  await insertPayments(db, [wanted]);
  return async (answers: {
    readonly sent?: ProcessorAnswer<CreatedIntent>;
    readonly lookups: readonly ProcessorAnswer<CreatedIntent>[];
    /** Age of the key as a share of its life. */
    readonly keyAge?: number;
    readonly first?: boolean;
  }) => {
    await db.rows("update operations set key_since = now() - make_interval(secs => $2) where id = $1", [
      first.id,
      (answers.keyAge ?? 0) * keyLifeSeconds,
    ]);
    const stored = answers.first ? first : await findOperation(db, "create_intent", paymentId);
    assert(stored);
    const calls: string[] = [];
    const lookups = [...answers.lookups];
    const connector = {
      keyLifeSeconds,
      createIntent: async (_account: unknown, _order: unknown, key: string) => {
        assert.equal(key, `${first.id}:1`, "one key, until absence is proved");
        calls.push("send");
        return answers.sent ?? assert.fail("nothing is to be sent");
      },
      findIntent: async () => {
        calls.push("look");
        return lookups.shift() ?? assert.fail("one lookup too many");
      },
    };
    const order = { surface: "embedded" };
    const account = {} as ProcessorAccount;
    const command = { db, connector: connector as unknown as Connector, account, operation: stored };
    const made = await makeIntent(command, order as IntentOrder);
    return [made.kind, calls.join(" ")] as const;
  };
}

test("the first try is sent without a lookup, and its outcome is returned unchanged", async () => {
  for (const sent of [created, declined, { kind: "not_sent", cause } as const]) {
    const attempt = await operation();
    assert.deepEqual(await attempt({ first: true, sent, lookups: [] }), [sent.kind, "send"]);
  }
});

test("after no answer a lookup follows at once: found, or unknown", async () => {
  const [found, lost] = [await operation(), await operation()];
  assert.deepEqual(await found({ first: true, sent: unknown, lookups: [created] }), ["succeeded", "send look"]);
  assert.deepEqual(await lost({ first: true, sent: unknown, lookups: [nothing(began)] }), ["unknown", "send look"]);
});

test("a repeat looks up first, and sends nothing when it finds the object", async () => {
  const attempt = await operation();
  assert.deepEqual(await attempt({ lookups: [created] }), ["succeeded", "look"]);
});

test("nothing is sent again before a complete lookup found nothing", async () => {
  const attempt = await operation();
  assert.deepEqual(await attempt({ lookups: [unknown] }), ["unknown", "look"]);
  assert.deepEqual(await attempt({ lookups: [nothing(began)], sent: created }), ["succeeded", "look send"]);
});

test("a key is sent again for half of its life, then only looked up", async () => {
  const attempt = await operation();
  const young = { keyAge: 0.4, lookups: [nothing(began), nothing(began)], sent: unknown };
  assert.deepEqual(await attempt(young), ["unknown", "look send look"]);
  assert.deepEqual(await attempt({ keyAge: 0.6, lookups: [nothing(began)] }), ["unknown", "look"]);
});

test("a refused repeat is looked up, since an earlier try may be the reason", async () => {
  const [found, never] = [await operation(), await operation()];
  assert.deepEqual(await found({ lookups: [nothing(began), created], sent: declined }), [
    "succeeded",
    "look send look",
  ]);
  const lookups = [nothing(began), nothing(began)];
  assert.deepEqual(await never({ lookups, sent: declined }), ["declined", "look send look"]);
  const hidden = await operation();
  assert.deepEqual(await hidden({ lookups: [nothing(began), unknown], sent: declined }), ["unknown", "look send look"]);
});

test("absence is proved by failed lookups for a key's life since the last send, by the processor's clock", async () => {
  const attempt = await operation();
  const at = (seconds: number) => nothing(after(seconds));
  await attempt({ lookups: [at(0), at(0)], sent: unknown });
  await attempt({ lookups: [at(400), at(400)], sent: unknown });
  assert.deepEqual(await attempt({ keyAge: 2, lookups: [at(1_399)] }), ["unknown", "look"]);
  assert.deepEqual(await attempt({ keyAge: 2, lookups: [at(1_400)] }), ["never_made", "look"]);
});

test.run();
