// Steps of like requests from their spans: order, medians, and what a step does itself.
import assert from "node:assert/strict";
import type { Collected } from "../harness/servers/otlp-collector.ts";
import { suite } from "../harness/suite.ts";
import { plainStatement, stepsOf } from "./step-table.ts";

const test = suite("step table");

/** A span of a request that came at `came`; times after it, milliseconds. */
function span(
  came: number,
  id: string,
  parent: string,
  service: string,
  name: string,
  at: number,
  took: number,
): Collected {
  const trace = `trace-${came}`;
  return {
    ...{ service: `tollbooth-${service}`, version: "", instance: "", name, statement: "" },
    ...{ traceId: trace, spanId: `${trace}-${id}`, parentSpanId: parent === "" ? "the caller" : `${trace}-${parent}` },
    ...{ startMs: came + at, endMs: came + at + took },
  };
}

const request = (came: number, slower: number): Collected[] => [
  { ...span(came, "c", "b", "payments", "sql select", 3, 1), statement: "select * from payments where id = $1" },
  span(came, "b", "a", "payments", "read", 2, 4),
  span(came, "a", "", "gateway", "GET payment", 0, 10 + slower),
];

test("steps stand in the order of their beginning, below who called them, with the median of their times", () => {
  const steps = stepsOf([...request(1_000, 0), ...request(2_000, 50), ...request(3_000, 2)], new Map());
  const table = steps.map(({ depth, what, at, took, own }) => [depth, what, at, took, own]);
  assert.deepEqual(table, [
    [0, "gateway: GET payment", 0, 12, 8],
    [1, "payments: read", 2, 4, 3],
    [2, "payments: read payments", 3, 1, 1],
  ]);
});

test("what two steps did at the same moment counts once against the step that waited", () => {
  const spans = [
    span(0, "a", "", "checkout", "create", 0, 10),
    span(0, "b", "a", "checkout", "one", 1, 4),
    span(0, "c", "a", "checkout", "other", 3, 4),
  ];
  assert.equal(stepsOf(spans, new Map())[0]?.own, 4);
});

test("a step that fewer than half of the requests have is left out", () => {
  const rare = span(1_000, "x", "a", "gateway", "cold cache", 1, 1);
  const spans = [...request(1_000, 0), ...request(2_000, 0), ...request(3_000, 0), rare];
  assert.ok(!stepsOf(spans, new Map()).some(({ what }) => what.includes("cold cache")));
});

test("a statement has the server's time, found by its text whatever its constants", () => {
  const known = new Map([[plainStatement("select *\n from payments where id = $1"), 0.25]]);
  assert.equal(stepsOf(request(1_000, 0), known)[2]?.atServer, 0.25);
  assert.equal(
    plainStatement("select 1 from x where each = 1 and kind in ('a', 'b')"),
    plainStatement("select $2 from x where each = $3 and kind in ($4 /*, ... */)"),
  );
});

test("a statement is named by its tables, not by its own parts", () => {
  const statement = `with taken as (insert into refunds select $1 on conflict do update set id = $2 returning id),
    wanted as materialized (select 1) select from taken join payments on true, unnest($3)`;
  const steps = stepsOf([{ ...span(0, "a", "", "payments", "sql with", 0, 1), statement }], new Map());
  assert.deepEqual(steps[0]?.what, "payments: write refunds; read payments");
});

test.run();
