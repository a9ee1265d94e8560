import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { RelayPace } from "./relay.ts";

const test = suite("the relay's pace");

/** Utilisation of a process with these active and idle times. */
function paceOf(): { pace: RelayPace; lives: (activeMs: number, idleMs: number) => void } {
  const all = { active: 0, idle: 0, utilization: 0 };
  const lives = (activeMs: number, idleMs: number) => {
    all.active += activeMs;
    all.idle += idleMs;
  };
  return { pace: new RelayPace(() => ({ ...all })), lives };
}

test("starts a round at once while the process is at least half idle", () => {
  const { pace, lives } = paceOf();
  assert.equal(pace.waitMs(0), 0);
  lives(150, 150);
  pace.ended(1_000, 1_004);
  assert.equal(pace.waitMs(1_004), 0);
});

test("uses a quarter of the time for rounds while busy, at most 25 ms apart", () => {
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

test("does not call a process busy after one long task", () => {
  const { pace, lives } = paceOf();
  lives(200, 10);
  pace.ended(1_000, 1_004);
  assert.equal(pace.waitMs(1_004), 0);
});

test.run();
