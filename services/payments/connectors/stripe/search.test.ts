// The search of Stripe's lists by our reference: its order, its bounds, its hits, and when it proves absence.
import assert from "node:assert/strict";
import { listPage, type ScriptedAnswer, scriptedStripe } from "../../../../test/harness/stripe/scripted-stripe.ts";
import { suite } from "../../../../test/harness/suite.ts";
import type { IntentSearch } from "../order.ts";
import { findOurs } from "./search.ts";

const test = suite("the search in Stripe's lists");
const since = new Date("2026-11-22T10:00:00.000Z");
const sinceSeconds = 1_795_341_600;
const [intents, sessions] = ["/v1/payment_intents", "/v1/checkout/sessions"];

/** @param after seconds from the time of the first try to its making */
function made(id: string, reference: string | undefined, after = 60) {
  return { id, created: sinceSeconds + after, metadata: reference ? { tollbooth_payment: reference } : {} };
}

/** Searches while Stripe answers so; what is not answered is an outage. */
async function find(
  search: Partial<IntentSearch>,
  answer: (path: string, count: number) => ScriptedAnswer | undefined,
  timeMs = 60_000,
) {
  const down = { status: 503, body: { error: { type: "api_error", message: "down" } } };
  const { sdk, requests } = scriptedStripe((url, count) => answer(url.pathname, count) ?? down);
  const wanted = { reference: "pay_1", surface: "embedded", ...search };
  const found = await findOurs(sdk, {}, wanted, performance.now() + timeMs);
  const cursors = requests.map(({ pathname, searchParams }) => [pathname, searchParams.get("starting_after")]);
  return { found, requests, cursors, value: found.kind === "succeeded" ? found.value : found.kind };
}

/** Lists that answer these pages one after the other, whichever is asked. */
const pages =
  (...bodies: object[]) =>
  (_path: string, count: number) =>
    bodies[count] && { body: bodies[count] };

test("searches older matches only as far back as they are possible", async () => {
  const newer = listPage([made("pi_3", "pay_1"), made("pi_2", "pay_2")], true);
  const older = listPage([made("pi_1", "pay_1", 5), made("pi_0", "pay_2", -3_600)], true);
  const { value, cursors } = await find({ since }, pages(newer, older));
  assert.equal(value, "pi_1");
  assert.deepEqual(cursors, [
    [intents, null],
    [intents, "pi_2"],
  ]);
});

test("reads sessions and intents before it answers not_found for a page", async () => {
  const both = await find({ surface: "redirect" }, pages(listPage([]), listPage([made("pi_1", "pay_1")])));
  assert.equal(both.value, "pi_1", "a payment by token has no session");
  const neither = await find({ surface: "redirect" }, pages(listPage([]), listPage([])));
  assert.deepEqual(neither.cursors, [
    [sessions, null],
    [intents, null],
  ]);
  assert.equal(neither.value, "not_found");
  const half = await find({ surface: "redirect" }, pages(listPage([])));
  assert.equal(half.value, "unknown", "the second list was not to be had");
});

test("does not resume at a cursor that Stripe refuses", async () => {
  const refused = { type: "invalid_request_error", code: "resource_missing", message: "No such payment_intent" };
  const { found } = await find({ after: "intents:pi_gone:" }, () => ({ status: 400, body: { error: refused } }));
  assert.deepEqual([found.kind, "resumeAfter" in found], ["unknown", false]);
});

test.run();
