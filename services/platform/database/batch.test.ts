import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { callContext } from "../values/call-context.ts";
import { asJson, Batch, byKey } from "./batch.ts";

const test = suite("batched writes");

/** Statements whose answers the test controls. */
function held() {
  const statements: {
    rows: readonly string[];
    traceparent: string | undefined;
    end: PromiseWithResolvers<string[]>;
  }[] = [];
  const batch = new Batch<string, string>((rows) => {
    const end = Promise.withResolvers<string[]>();
    statements.push({ rows, traceparent: callContext.getStore()?.traceparent, end });
    return end.promise;
  });
  const rows = () => statements.map((each) => each.rows.join(""));
  const answer = (i: number) => statements[i]?.end.resolve(statements[i].rows.map((row) => row.toUpperCase()));
  const refuse = (i: number, code: string) => statements[i]?.end.reject(Object.assign(new Error(code), { code }));
  return { add: (row: string) => batch.add(row), statements, rows, answer, refuse };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("sends a single row at once and groups later rows, each with its own answer", async () => {
  const { add, rows, answer } = held();
  const all = Promise.all([..."abc"].map(add));
  assert.deepEqual(rows(), ["a"]);
  answer(0);
  await turn();
  assert.deepEqual(rows(), ["a", "bc"]);
  answer(1);
  assert.deepEqual(await all, ["A", "B", "C"]);
  const last = add("d");
  assert.deepEqual(rows(), ["a", "bc", "d"]);
  answer(2);
  assert.equal(await last, "D");
});

test("groups at most fifty rows", async () => {
  const { add, statements, answer } = held();
  const all = Promise.all(Array.from({ length: 61 }, () => add("x")));
  for (let i = 0; i < 3; i++) {
    answer(i);
    await turn();
  }
  await all;
  assert.deepEqual(
    statements.map((each) => each.rows.length),
    [1, 50, 10],
  );
});

for (const code of ["23505", "22P02", "40P01", "P0001", "55P03"]) {
  test(`reruns each row alone after a refusal (${code}), so only the faulty row fails`, async () => {
    const { add, rows, answer, refuse } = held();
    const first = add("a");
    const [good, bad] = [add("b"), add("c")];
    answer(0);
    await turn();
    refuse(1, code);
    await turn();
    assert.deepEqual(rows(), ["a", "bc", "b", "c"]);
    answer(2);
    refuse(3, code);
    assert.deepEqual([await first, await good], ["A", "B"]);
    await assert.rejects(bad, { code });
  });
}

for (const code of ["57014", "57TB1", "08006", "ECONNRESET"]) {
  test(`never repeats a statement whose outcome is unknown (${code})`, async () => {
    const { add, rows, answer, refuse } = held();
    const all = Promise.allSettled([..."abc"].map(add));
    answer(0);
    await turn();
    refuse(1, code);
    assert.deepEqual(
      (await all).map(({ status }) => status),
      ["fulfilled", "rejected", "rejected"],
    );
    assert.deepEqual(rows(), ["a", "bc"]);
  });
}

test("starts the next batch after a moment behind a waiting statement", async () => {
  const { add, rows, answer } = held();
  const slow = add("a");
  const quick = Promise.all([add("b"), add("c")]);
  while (rows().length < 2) await turn();
  answer(1);
  assert.deepEqual(await quick, ["B", "C"]);
  assert.deepEqual(rows(), ["a", "bc"]);
  const next = add("d");
  answer(2);
  answer(0);
  assert.deepEqual([await slow, await next], ["A", "D"]);
});

test("keeps a shared statement out of every request's trace", async () => {
  const { add, statements, answer } = held();
  const call = (traceparent: string) => ({ requestId: "", actor: "", deadlineMs: undefined, traceparent });
  const all = [..."abc"].map((row) => callContext.run(call(row), () => add(row)));
  answer(0);
  await turn();
  answer(1);
  await Promise.all(all);
  assert.deepEqual(
    statements.map(({ traceparent }) => traceparent),
    ["a", undefined],
  );
});

test("fails every item when the number of answers is wrong", async () => {
  const batch = new Batch<string, string>(async () => []);
  await assert.rejects(batch.add("a"), /1 items, 0 answers/);
});

test("sorts rows by their lookup key to prevent deadlocks", () => {
  const rows = JSON.parse(
    byKey(
      [..."cab"].map((id) => ({ id, n: 1 })),
      "id",
    ),
  );
  assert.deepEqual(
    rows,
    [..."abc"].map((id) => ({ each: 1, id, n: 1 })),
  );
});

test("replaces half a surrogate pair and leaves other text unchanged", () => {
  const texts = ["\ud83d", "a\udc00z", "\\ud83d", "\\\ud83d", "\u{1f600}", '"\n', "\\"];
  const read = JSON.parse(asJson(texts));
  assert.deepEqual(
    read,
    texts.map((text) => text.toWellFormed()),
  );
});

test.run();
