// The simulator's mishaps: failed refunds and changed disputes in the statement, and forgotten keys. Returned debits
// and lost intents are in test/connectors/simulator-answers.test.ts.
import * as assert from "uvu/assert";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { simulatorCaller, startRig } from "./service.ts";

const test = suite("simulator-mishaps");

const rig = fixture(test, () => startRig());

interface StatementRow {
  readonly type: string;
  readonly id: string;
  readonly amount: number;
  readonly status: string;
  readonly failure_code: string | null;
}

/** Statement lines of an object in the period. */
async function statementRows(id: string, from: Date, to: Date): Promise<StatementRow[]> {
  const path = `/api/statement?from=${from.toISOString()}&to=${to.toISOString()}&limit=500`;
  const { data } = (await rig.call<{ data: StatementRow[] }>("GET", path)).body;
  return data.filter((row) => row.id === id);
}

/** The next millisecond, which starts a new statement period. */
async function newPeriod(): Promise<Date> {
  const begin = Date.now();
  await eventually("the next millisecond", () => Date.now() > begin, { everyMs: 1 });
  return new Date();
}

const beginning = new Date(0);
const end = new Date("2100-01-01T00:00:00Z");

test("failed refunds and changed disputes are in the statement of the period of the change", async () => {
  const { id } = await rig.paidIntent();
  const { body: refund } = await rig.call("POST", `/test/intents/${id}/refunds`, { amount: 10 });
  const { body: dispute } = await rig.call("POST", `/test/intents/${id}/disputes`, { amount: 20 });
  const before = await newPeriod();
  await rig.call("POST", `/test/refunds/${refund.id}`, { status: "failed", failure_code: "declined" });
  await rig.call("POST", `/test/disputes/${dispute.id}`, { status: "lost" });
  for (const [object, status] of [
    [refund.id, "failed"],
    [dispute.id, "lost"],
  ] as const) {
    assert.equal(await statementRows(object, beginning, before), []);
    assert.equal(
      (await statementRows(object, before, end)).map((row) => row.status),
      [status],
    );
  }
  assert.is((await statementRows(id, beginning, before)).length, 1);
});

test("a key is forgotten at the end of its life", async () => {
  const own = await startRig(undefined, { keySeconds: 1 });
  const call = simulatorCaller(own.url);
  const create = () =>
    call("POST", "/api/intents", { amount: 5, currency: "EUR", reference: "pay_life" }, { "idempotency-key": "kl" });
  const { body: first } = await create();
  const second = await eventually("the key to be forgotten", async () => {
    const { headers, body } = await create();
    return headers.get("idempotent-replayed") === null && body;
  });
  assert.is.not(second.id, first.id);
  await own.stop();
});

test.run();
