// The payment export is complete or breaks off, despite outages and slow browsers.
import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { callContext, publicOperationMs, remainingMs } from "#platform/values/call-context.ts";
import { Failure } from "#platform/values/failure.ts";
import { ListPaymentsResponseSchema } from "#proto/payments/v1/payments_pb.ts";
import { suite } from "../../../../../test/harness/suite.ts";
import { Downloads, fileLines, filesMax } from "../../../session/download.ts";
import { TooManyFiles } from "../../../session/turned-away.ts";
import { paymentFile } from "./export.ts";

const test = suite("payment export");

/** A page of payments with descending ids. */
function pageBehind(id: string, size = 2) {
  const left = Number(id) - 1;
  const payments = Array.from({ length: Math.min(size, left) }, (_, i) => ({ id: String(left - i), currency: "EUR" }));
  return create(ListPaymentsResponseSchema, { payments, hasMore: left > size });
}

const idsOf = (file: string) => [...file.matchAll(/^(\d+),/gm)].map(([, id]) => Number(id));

test("writes every payment once", async () => {
  for (const count of [0, 1, 2, 3, 7]) {
    let file = "";
    for await (const chunk of fileLines(paymentFile, pageBehind(String(count + 1)), async (id) => pageBehind(id)))
      file += chunk;
    assert.deepEqual(
      idsOf(file),
      Array.from({ length: count }, (_, i) => count - i),
    );
  }
});

test("breaks off after the last page that loads", async () => {
  let file = "";
  const read = async () => {
    const lost = async (id: string) => (id === "4" ? Promise.reject(new Failure("NOT_FOUND")) : pageBehind(id));
    for await (const chunk of fileLines(paymentFile, pageBehind("8"), lost)) file += chunk;
  };
  await assert.rejects(read, Failure);
  assert.deepEqual(idsOf(file), [7, 6, 5, 4]);
});

test("stops when the browser leaves and ignores the failed page ahead", async () => {
  const requestedIds: string[] = [];
  const file = fileLines(paymentFile, pageBehind("100"), async (id) => {
    requestedIds.push(id);
    throw new Failure("SERVICE_UNAVAILABLE");
  });
  await file.next();
  await file.next();
  await file.return(undefined);
  assert.deepEqual(requestedIds, ["98"]);
});

test("gives each page its own deadline", async () => {
  const call = { requestId: "req_1", actor: "", traceparent: "", deadlineMs: performance.now() - 60_000 };
  const left = await callContext.run(call, () =>
    new Downloads().page(call, async () => remainingMs(Number.MAX_SAFE_INTEGER)),
  );
  assert.ok(left > publicOperationMs / 2, `${left} ms`);
});

test("retries a page during a short outage", async () => {
  const call = { requestId: "req_1", actor: "", traceparent: "", deadlineMs: undefined };
  let tries = 0;
  const answer = await new Downloads().page(call, async () => {
    if (++tries < 4) throw new Failure("SERVICE_UNAVAILABLE");
    return "there";
  });
  assert.deepEqual([answer, tries], ["there", 4]);
});

test("loads pages of several files one at a time, also after a failure", async () => {
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

test("loads a page in the context of its own request", async () => {
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

test("limits a merchant to four files and counts each end once", () => {
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
