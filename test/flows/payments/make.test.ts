// Making one object at a processor exactly once: what is sent, what is looked for and what is proved, by what the
// processor answers. The processor is played by a connector that answers as the test says, since what matters is which
// calls are made.
import assert from "node:assert/strict";
import { Database } from "#platform/database/database.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type {
  Connector,
  CreatedIntent,
  ProcessorAccount,
  ProcessorAnswer,
} from "../../../services/payments/connectors/connector.ts";
import type { IntentOrder } from "../../../services/payments/connectors/order.ts";
import { makeIntent } from "../../../services/payments/flows/make-at-processor.ts";
import { insertPayments } from "../../../services/payments/store/new-payments.ts";
import { findOperation, firstTry } from "../../../services/payments/store/operations.ts";
import { freshDatabase } from "../../harness/database.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("making an object at a processor", { timeoutMs: 20_000 });
const keyLifeSeconds = 1_000;
const cause = new Error("no answer");
const unknown = { kind: "unknown", cause } as const;
const declined = { kind: "declined", code: "refused", message: "no" } as const;
const created = { kind: "succeeded", value: { report: { ref: "pi_1" } } as CreatedIntent } as const;
const nothing = (at: Date): ProcessorAnswer<never> => ({ kind: "not_found", at, cause });
const began = new Date("2026-01-01T00:00:00Z");
const after = (seconds: number) => new Date(began.getTime() + seconds * 1_000);
let db: Database;

test.before(async () => {
  db = await Database.open({
    url: (await freshDatabase("payments")).url,
    name: "test",
    log: createLog("test", "fatal"),
  });
});
test.after(() => db.close());

/** An operation of a payment that nobody has tried, and a processor that answers a look after the other as given. */
async function operation() {
  const [paymentId, id] = [newId("payment"), newId("operation")];
  const what = {
    amount: 1_000n,
    currency: "EUR",
    description: "",
    orderReference: "",
    customerEmail: "",
    metadata: {},
  };
  const where = {
    connector: "simulator",
    connectorAccountId: "mco_test",
    surface: "embedded",
    captureMethod: "automatic" as const,
  };
  const owner = { merchantId: "mer_test", environment: Environment.SANDBOX, sessionId: newId("session") };
  const payment = { ...owner, ...what, ...where, id: paymentId, expiresAt: new Date(Date.now() + 3_600_000) };
  const operation = firstTry(id, "create_intent", paymentId, undefined);
  await insertPayments(db, [{ payment, operation, operationSeconds: 0, checkSeconds: 0 }]);
  return async (answers: {
    readonly sent?: ProcessorAnswer<CreatedIntent>;
    readonly lookups: readonly ProcessorAnswer<CreatedIntent>[];
    /** Share of its life that the key has lived. */
    readonly keyAge?: number;
    readonly first?: boolean;
  }) => {
    await db.rows("update operations set key_since = now() - make_interval(secs => $2) where id = $1", [
      id,
      (answers.keyAge ?? 0) * keyLifeSeconds,
    ]);
    const stored = answers.first ? operation : await findOperation(db, "create_intent", paymentId);
    assert(stored);
    const calls: string[] = [];
    const lookups = [...answers.lookups];
    const connector = {
      keyLifeSeconds,
      createIntent: async (_account: unknown, _order: unknown, key: string) => {
        assert.equal(key, `${id}:1`, "one key, until absence is proved");
        calls.push("send");
        return answers.sent ?? assert.fail("nothing is to be sent");
      },
      findIntent: async () => {
        calls.push("look");
        return lookups.shift() ?? assert.fail("one look too many");
      },
    };
    const order = { surface: "embedded" };
    const account = {} as ProcessorAccount;
    const command = { db, connector: connector as unknown as Connector, account, operation: stored };
    const made = await makeIntent(command, order as IntentOrder);
    return [made.kind, calls.join(" ")] as const;
  };
}

test("the first try is sent without a look, and what it is refused for is told as it is", async () => {
  for (const sent of [created, declined, { kind: "not_sent", cause } as const]) {
    const attempt = await operation();
    assert.deepEqual(await attempt({ first: true, sent, lookups: [] }), [sent.kind, "send"]);
  }
});

test("an answer that nobody had is looked for at once, and found or in doubt", async () => {
  const [found, lost] = [await operation(), await operation()];
  assert.deepEqual(await found({ first: true, sent: unknown, lookups: [created] }), ["succeeded", "send look"]);
  assert.deepEqual(await lost({ first: true, sent: unknown, lookups: [nothing(began)] }), ["unknown", "send look"]);
});

test("a repeat looks first, and sends nothing that it finds", async () => {
  const attempt = await operation();
  assert.deepEqual(await attempt({ lookups: [created] }), ["succeeded", "look"]);
});

test("nothing is sent again before a whole look has found nothing", async () => {
  const attempt = await operation();
  assert.deepEqual(await attempt({ lookups: [unknown] }), ["unknown", "look"]);
  assert.deepEqual(await attempt({ lookups: [nothing(began)], sent: created }), ["succeeded", "look send"]);
});

test("a key is sent again for half of its life, and after that it is only looked for", async () => {
  const attempt = await operation();
  const young = { keyAge: 0.4, lookups: [nothing(began), nothing(began)], sent: unknown };
  assert.deepEqual(await attempt(young), ["unknown", "look send look"]);
  assert.deepEqual(await attempt({ keyAge: 0.6, lookups: [nothing(began)] }), ["unknown", "look"]);
});

test("a repeat that is refused is looked for, since the try before it may be what it was refused for", async () => {
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

test("absence is proved by looks that found nothing for a key's life since the last send, by the processor's clock", async () => {
  const attempt = await operation();
  const at = (seconds: number) => nothing(after(seconds));
  await attempt({ lookups: [at(0), at(0)], sent: unknown });
  await attempt({ lookups: [at(400), at(400)], sent: unknown });
  assert.deepEqual(await attempt({ keyAge: 2, lookups: [at(1_399)] }), ["unknown", "look"]);
  assert.deepEqual(await attempt({ keyAge: 2, lookups: [at(1_400)] }), ["never_made", "look"]);
});

test.run();
