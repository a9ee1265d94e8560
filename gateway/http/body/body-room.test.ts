import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import { BodyRoom } from "./body-room.ts";

const test = suite("room for bodies");
const size = { total: 100, perSender: 40, leastPerBody: 10 };

test("one sender never takes more than its share, and all never more than the whole", () => {
  const room = new BodyRoom(size);
  const acceptedCount = (sender: string) => [1, 2, 3, 4, 5].filter(() => room.take(sender, 15)).length;
  assert.deepEqual([acceptedCount("a"), acceptedCount("b"), acceptedCount("c")], [2, 2, 2]);
  assert.equal(room.take("d", 11), undefined, "90 of 100 are taken");
  assert.ok(room.take("d", 10));
  assert.equal(new BodyRoom(size).take("a", 41), undefined, "a body larger than the share never fits");
});

test("the smallest body takes its part: open sockets are bounded, too", () => {
  const room = new BodyRoom(size);
  assert.equal([1, 2, 3, 4, 5].filter(() => room.take("a", 1)).length, 4);
});

test("whatever is taken and given back in whatever order, and twice, the room is whole again at the end", () => {
  const step = fc.record({
    sender: fc.constantFrom("a", "b", "c"),
    bytes: fc.integer({ min: 0, max: 60 }),
    index: fc.nat(20),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const room = new BodyRoom(size);
      const held: (() => void)[] = [];
      for (const { sender, bytes, index } of steps) {
        const giveBack = room.take(sender, bytes);
        if (giveBack) held.push(giveBack);
        held[index]?.();
      }
      for (const giveBack of held) giveBack();
      for (const sender of ["a", "b"]) assert.ok(room.take(sender, size.perSender));
      assert.ok(room.take("c", size.total - 2 * size.perSender));
    }),
  );
});

test.run();
