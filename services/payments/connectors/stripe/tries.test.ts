// Attempts of one intent in Stripe's event list: all of them, or none.
import assert from "node:assert/strict";
import type Stripe from "stripe";
import { listPage, type ScriptedAnswer, scriptedStripe } from "../../../../test/harness/stripe/scripted-stripe.ts";
import { suite } from "../../../../test/harness/suite.ts";
import { readTries } from "./tries.ts";

const test = suite("attempts in Stripe's events");
const intent = { id: "pi_1", created: 900 } as Stripe.PaymentIntent;
const failed = "payment_intent.payment_failed";

function event(id: string, created: number, object: object, type = failed) {
  return { id, object: "event", type, created, data: { object } };
}

const error = { code: "payment_intent_authentication_failure" };
const failure = (id: string, created: number) => event(id, created, { id: "pi_1", last_payment_error: error });

async function tries(answer: (url: URL, count: number) => ScriptedAnswer, eventId = "") {
  const { sdk, requests } = scriptedStripe(answer);
  const { tries: read, isBehind } = await readTries(sdk, {}, intent, eventId);
  return { read: read.map(({ at, error: reported }) => [at, reported?.code]), requests, isBehind };
}

test("reads only the intent's attempts, oldest first, through all pages", async () => {
  const others = event("evt_3", 1_200, { id: "pi_2", last_payment_error: error });
  const asking = event("evt_2", 1_100, { id: "pi_1" }, "payment_intent.requires_action");
  const pages = [listPage([failure("evt_4", 1_300), others], true), listPage([asking, failure("evt_1", 1_000)])];
  const { read, requests } = await tries((_, count) => ({ body: pages[count] ?? assert.fail("no such page") }));
  assert.deepEqual(read, [
    [1_000, error.code],
    [1_100, undefined],
    [1_300, error.code],
  ]);
  const windows = requests.map(({ searchParams: query }) => [query.get("created[gte]"), query.get("starting_after")]);
  assert.deepEqual(windows, [
    ["900", null],
    ["900", "evt_3"],
  ]);
});

test("an interrupted, forbidden or too long list is empty, never partial", async () => {
  const first = listPage([failure("evt_9", 1_300)], true);
  const refused = { error: { type: "invalid_request_error", message: "No." } };
  for (const status of [403, 503]) {
    const { read } = await tries((_, count) => (count === 0 ? { body: first } : { status, body: refused }));
    assert.deepEqual(read, [], String(status));
  }
  const { read, requests } = await tries(() => ({ body: first }));
  assert.deepEqual(read, []);
  assert.ok(requests.length < 10, "and reading ends");
});

test("a complete list without the queried event is behind it", async () => {
  const pages = [listPage([failure("evt_4", 1_300)], true), listPage([event("evt_1", 1_000, { id: "pi_1" })])];
  const whole = (_: URL, count: number) => ({ body: pages[count] ?? assert.fail("no such page") });
  const behind = async (eventId: string) => (await tries(whole, eventId)).isBehind;
  assert.deepEqual([await behind("evt_4"), await behind("evt_1"), await behind("evt_5")], [false, false, true]);
  assert.equal((await tries(whole)).isBehind, false, "no event was queried");
  const refused = { error: { type: "invalid_request_error", message: "No." } };
  assert.equal((await tries(() => ({ status: 403, body: refused }), "evt_5")).isBehind, false);
  assert.equal((await tries(() => ({ body: pages[0] ?? {} }), "evt_5")).isBehind, false, "a list without end");
});

test("skips a failure without an error, which may be a charge's", async () => {
  const silent = event("evt_1", 1_000, { id: "pi_1" });
  assert.deepEqual((await tries(() => ({ body: listPage([silent]) }))).read, []);
});

test.run();
