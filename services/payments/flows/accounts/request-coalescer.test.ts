import assert from "node:assert/strict";
import { suite } from "../../../../test/harness/suite.ts";
import { RequestCoalescer } from "./request-coalescer.ts";

const test = suite("shared question");

/** A request whose answers the test gives, in order. */
function byHand() {
  const requests: { answer: (value: number) => void; fail: (error: Error) => void }[] = [];
  const question = () => new Promise<number>((answer, fail) => requests.push({ answer, fail }));
  return { requests, question };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("calls during a request share the next request, never the active one", async () => {
  const shared = new RequestCoalescer<number>();
  const { requests, question } = byHand();
  const first = shared.ask("a", question);
  const others = [shared.ask("a", question), shared.ask("a", question), shared.ask("a", question)];
  assert.equal(requests.length, 1);
  requests[0]?.answer(1);
  assert.equal(await first, 1);
  await turn();
  assert.equal(requests.length, 2, "one question for the three");
  const late = shared.ask("a", question);
  requests[1]?.answer(2);
  assert.deepEqual(await Promise.all(others), [2, 2, 2]);
  await turn();
  requests[2]?.answer(3);
  assert.equal(await late, 3);
});

test("a failed request fails for those who shared it, and the next one is sent", async () => {
  const shared = new RequestCoalescer<number>();
  const { requests, question } = byHand();
  const first = shared.ask("a", question).catch(String);
  const second = shared.ask("a", question);
  requests[0]?.fail(new Error("away"));
  assert.equal(await first, "Error: away");
  await turn();
  requests[1]?.answer(2);
  assert.equal(await second, 2);
  const third = shared.ask("a", question);
  assert.equal(requests.length, 3, "nothing is kept between questions");
  requests[2]?.answer(3);
  assert.equal(await third, 3);
});

test.run();
