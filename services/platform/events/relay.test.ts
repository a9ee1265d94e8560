import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { RelayPace } from "./relay.ts";

const test = suite("the relay's pace");

/** A process that has worked and waited for so long in all. */
function paceOf(): { pace: RelayPace; lives: (activeMs: number, idleMs: number) => void } {
  const all = { active: 0, idle: 0, utilization: 0 };
  const lives = (activeMs: number, idleMs: number) => {
    all.active += activeMs;
    all.idle += idleMs;
  };
  return { pace: new RelayPace(() => ({ ...all })), lives };
}

test("while the process waits for half of the time or more, a round begins as soon as there is an event", () => {
  const { pace, lives } = paceOf();
  assert.equal(pace.waitMs(0), 0);
  lives(150, 150);
  pace.ended(1_000, 1_004);
  assert.equal(pace.waitMs(1_004), 0);
});

test("while it is busier, rounds fill a quarter of the time, and begin 25 ms after each other at the latest", () => {
  const { pace, lives } = paceOf();
  lives(200, 100);
  pace.ended(1_000, 1_004);
  assert.equal(pace.waitMs(1_004), 12);
  assert.equal(pace.waitMs(1_016), 0);
  pace.ended(2_000, 2_020);
  assert.equal(pace.waitMs(2_020), 5);
  lives(0, 300);
  pace.ended(3_000, 3_004);
  assert.equal(pace.waitMs(3_004), 0, "it is no longer busy");
});

test("one long turn makes no process busy", () => {
  const { pace, lives } = paceOf();
  lives(200, 10);
  pace.ended(1_000, 1_004);
  assert.equal(pace.waitMs(1_004), 0);
});

test.run();
