// The in-flight limit of one endpoint.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import {
  afterAttempt,
  classifyLane,
  inFlightLimit,
  type LaneState,
  newLane,
  type Signal,
  waitingLimit,
} from "./lane.ts";

const test = suite("lane");

function after(count: number, signal: Signal, tookMs: number, from: LaneState = newLane): LaneState {
  let lane = from;
  for (let i = 0; i < count; i++) lane = afterAttempt(lane, { signal, tookMs, nowMs: 0, isAtLimit: true });
  return lane;
}

test("the limit grows by 1 per ten answers up to 32 and halves without an answer, down to 1", () => {
  assert.equal(after(10, "answered", 5).limit, newLane.limit + 1);
  assert.equal(after(5_000, "answered", 5).limit, 32);
  assert.equal(after(1, "silent", 5, after(5_000, "answered", 5)).limit, 16);
  assert.equal(after(1, "overloaded", 5, after(5_000, "answered", 5)).limit, 16);
  assert.equal(after(100, "silent", 5).limit, 1);
});

test("a limit that is not reached does not grow, however many answers arrive", () => {
  let lane = newLane;
  for (let i = 0; i < 100; i++) {
    lane = afterAttempt(lane, { signal: "answered", tookMs: 5, nowMs: 0, isAtLimit: false });
  }
  assert.equal(lane.limit, newLane.limit);
});

test("a lane is slow before its first answer, on slow answers, and once an answer is unusually late", () => {
  assert.equal(classifyLane(newLane, 0), "slow");
  const quick = after(10, "answered", 5);
  assert.deepEqual(
    [classifyLane(quick, 0), classifyLane(quick, 200), classifyLane(quick, 300)],
    ["quick", "quick", "slow"],
  );
  assert.equal(classifyLane(after(10, "answered", 3_000), 0), "slow");
});

test("a lane without an answer to its latest attempt is silent and sends one at a time until it answers", () => {
  const quick = after(100, "answered", 5);
  assert.equal(inFlightLimit(quick), quick.limit);
  const silent = after(1, "silent", 10_000, quick);
  assert.deepEqual([classifyLane(silent, 0), inFlightLimit(silent), waitingLimit(silent)], ["silent", 1, 1]);
  const back = after(1, "answered", 5, silent);
  assert.deepEqual([classifyLane(back, 0), inFlightLimit(back)], ["quick", back.limit]);
  assert.equal(inFlightLimit(newLane), 1);
});

test("a silent lane pauses for a tenth of its silence, at most 30 s, after 20 silent attempts", () => {
  const silentFor = (seconds: number, count: number) => {
    const silence = { signal: "silent", tookMs: 5, isAtLimit: true } as const;
    const first = afterAttempt(newLane, { ...silence, nowMs: 1_000 });
    const nowMs = 1_000 + seconds * 1_000;
    return afterAttempt({ ...first, silences: count - 1 }, { ...silence, nowMs }).pausedUntilMs - nowMs;
  };
  assert.equal(silentFor(3_600, 19), 0);
  assert.equal(silentFor(1, 20), 100);
  assert.equal(silentFor(60, 100), 6_000);
  assert.equal(silentFor(3_600, 100), 30_000);
  const silent = after(1, "answered", 5, { ...newLane, silences: 50, pausedUntilMs: 9 });
  assert.deepEqual([silent.silences, silent.pausedUntilMs], [0, 0]);
});

test("a lane keeps about a second's work in memory, and little before its first answer", () => {
  assert.equal(waitingLimit(newLane), newLane.limit);
  assert.equal(waitingLimit(after(5_000, "answered", 1)), 1_024);
  assert.equal(waitingLimit(after(5_000, "answered", 100)), 320);
  assert.equal(waitingLimit(after(5_000, "answered", 5_000)), 64);
});

test.run();
