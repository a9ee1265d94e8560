import assert from "node:assert/strict";
import fc from "fast-check";
import { callContext, publicOperationMs, remainingMs } from "#platform/values/call-context.ts";
import { suite } from "../../../test/harness/suite.ts";
import { piecesOf } from "./pieces.ts";

const test = suite("files in pieces");

async function* each(chunks: readonly Uint8Array[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

test("splits chunks into pieces of one size with a shorter last one, all bytes in order", async () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 1, max: 9 }), async (chunks, size) => {
      const pieces: Buffer[] = [];
      for await (const piece of piecesOf(each(chunks), size)) pieces.push(piece);
      assert.deepEqual(Buffer.concat(pieces), Buffer.concat(chunks));
      assert.ok(pieces.slice(0, -1).every((piece) => piece.length === size));
      const last = pieces.at(-1)?.length ?? size;
      assert.ok(last > 0 && last <= size);
    }),
  );
});

test("renews the operation's deadline with each piece", async () => {
  const call = { requestId: "req_1", actor: "", traceparent: "", deadlineMs: 0 };
  const left = () => remainingMs(Number.MAX_SAFE_INTEGER);
  let pieces = 0;
  await callContext.run(call, async () => {
    for await (const _piece of piecesOf(each([Buffer.alloc(10)]), 4)) {
      assert.ok(left() > publicOperationMs / 2);
      call.deadlineMs = performance.now() - 60_000;
      pieces++;
    }
  });
  assert.equal(pieces, 3);
});

test.run();
