// The file of payments is whole or breaks off, however long it takes and whoever is away meanwhile.
import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { callContext, publicOperationMs, remainingMs } from "#platform/values/call-context.ts";
import { Failure } from "#platform/values/failure.ts";
import { ListPaymentsResponseSchema } from "#proto/payments/v1/payments_pb.ts";
import { suite } from "../../../../../test/harness/suite.ts";
import { TooManyFiles } from "../../../session/turned-away.ts";
import { Downloads, filesMax } from "./downloads.ts";
import { fileLines } from "./export.ts";

const test = suite("the file of payments");

/** Payments `from`, `from` - 1, … down to 1, so many a page. */
function pageBehind(id: string, size = 2) {
  const left = Number(id) - 1;
  const payments = Array.from({ length: Math.min(size, left) }, (_, i) => ({ id: String(left - i), currency: "EUR" }));
  return create(ListPaymentsResponseSchema, { payments, hasMore: left > size });
}

const idsOf = (file: string) => [...file.matchAll(/^(\d+),/gm)].map(([, id]) => Number(id));

test("the file has every payment once, to the last page", async () => {
  for (const count of [0, 1, 2, 3, 7]) {
    let file = "";
    for await (const chunk of fileLines(pageBehind(String(count + 1)), async (id) => pageBehind(id))) file += chunk;
    assert.deepEqual(
      idsOf(file),
      Array.from({ length: count }, (_, i) => count - i),
    );
  }
});

test("a page that cannot be had breaks the file off behind what was read", async () => {
  let file = "";
  const read = async () => {
    const lost = async (id: string) => (id === "4" ? Promise.reject(new Failure("NOT_FOUND")) : pageBehind(id));
    for await (const chunk of fileLines(pageBehind("8"), lost)) file += chunk;
  };
  await assert.rejects(read, Failure);
  assert.deepEqual(idsOf(file), [7, 6, 5, 4]);
});

test("a browser that leaves ends it: one page is read ahead, and nobody is troubled by how that ends", async () => {
  const requestedIds: string[] = [];
  const file = fileLines(pageBehind("100"), async (id) => {
    requestedIds.push(id);
    throw new Failure("SERVICE_UNAVAILABLE");
  });
  await file.next();
  await file.next();
  await file.return(undefined);
  assert.deepEqual(requestedIds, ["98"]);
});

test("a page that is asked for when the request's time is over has the time of a request for itself", async () => {
  const call = { requestId: "req_1", actor: "", traceparent: "", deadlineMs: performance.now() - 60_000 };
  const left = await callContext.run(call, () =>
    new Downloads().page(call, async () => remainingMs(Number.MAX_SAFE_INTEGER)),
  );
  assert.ok(left > publicOperationMs / 2, `${left} ms`);
});

test("a service that is away for moments does not break it off", async () => {
  const call = { requestId: "req_1", actor: "", traceparent: "", deadlineMs: undefined };
  let tries = 0;
  const answer = await new Downloads().page(call, async () => {
    if (++tries < 4) throw new Failure("SERVICE_UNAVAILABLE");
    return "there";
  });
  assert.deepEqual([answer, tries], ["there", 4]);
});

test("several files read their pages in turns, one at a time, and one whose page fails keeps nobody waiting", async () => {
  const downloads = new Downloads();
  const call = { requestId: "req_1", actor: "", traceparent: "", deadlineMs: undefined };
  let [now, most] = [0, 0];
  const page = (fails: boolean) =>
    downloads.page(call, async () => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now--;
      if (fails) throw new Failure("NOT_FOUND");
    });
  const ended = await Promise.allSettled([page(false), page(true), page(false), page(false)]);
  assert.deepEqual([ended.map(({ status }) => status === "fulfilled"), most], [[true, false, true, true], 1]);
});

test("a page that waits for its turn is asked for by its own request, whoever was before it", async () => {
  const downloads = new Downloads();
  const callOf = (requestId: string) => ({ requestId, actor: "", traceparent: "", deadlineMs: performance.now() });
  const before = Promise.withResolvers<void>();
  const requests = [
    downloads.page(callOf("req_1"), () => before.promise),
    ...["req_2", "req_3"].map((id) => downloads.page(callOf(id), async () => callContext.getStore()?.requestId)),
    downloads.first(callOf("req_4"), async () => callContext.getStore()?.requestId),
  ];
  before.resolve();
  assert.deepEqual(await Promise.all(requests), [undefined, "req_2", "req_3", "req_4"]);
});

test("a merchant has four files under way at most, and another one once one has ended, however often that is said", () => {
  const downloads = new Downloads();
  const ends = Array.from({ length: filesMax }, () => downloads.begin("mer_1"));
  assert.throws(() => downloads.begin("mer_1"), TooManyFiles);
  downloads.begin("mer_2")();
  ends[0]?.();
  ends[0]?.();
  ends.push(downloads.begin("mer_1"));
  assert.throws(() => downloads.begin("mer_1"), TooManyFiles);
  for (const end of ends) end();
  for (const end of Array.from({ length: filesMax }, () => downloads.begin("mer_1"))) end();
});

test.run();
