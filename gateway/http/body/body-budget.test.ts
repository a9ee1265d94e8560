import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import { BodyBudget } from "./body-guard.ts";

const test = suite("memory for bodies");
const size = { total: 100, perSender: 40, leastPerBody: 10 };

test("limits one sender to its share and all senders to the total", () => {
  const budget = new BodyBudget(size);
  const acceptedCount = (sender: string) => [1, 2, 3, 4, 5].filter(() => budget.take(sender, 15)).length;
  assert.deepEqual([acceptedCount("a"), acceptedCount("b"), acceptedCount("c")], [2, 2, 2]);
  assert.equal(budget.take("d", 11), undefined, "90 of 100 are taken");
  assert.ok(budget.take("d", 10));
  assert.equal(new BodyBudget(size).take("a", 41), undefined, "a body larger than the share never fits");
});

test("charges the smallest body a minimum, which bounds open sockets", () => {
  const budget = new BodyBudget(size);
  assert.equal([1, 2, 3, 4, 5].filter(() => budget.take("a", 1)).length, 4);
});

test("is whole again after all bodies are released, in any order and repeatedly", () => {
  const step = fc.record({
    sender: fc.constantFrom("a", "b", "c"),
    bytes: fc.integer({ min: 0, max: 60 }),
    index: fc.nat(20),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const budget = new BodyBudget(size);
      const held: (() => void)[] = [];
      for (const { sender, bytes, index } of steps) {
        const release = budget.take(sender, bytes);
        if (release) held.push(release);
        held[index]?.();
      }
      for (const release of held) release();
      for (const sender of ["a", "b"]) assert.ok(budget.take(sender, size.perSender));
      assert.ok(budget.take("c", size.total - 2 * size.perSender));
    }),
  );
});

test.run();
