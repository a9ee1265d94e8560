// Which lane sends next. Tests count states; the clock is a parameter.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import type { Signal } from "../rules/lane.ts";
import type { DueDelivery } from "../store/delivery-queue.ts";
import type { Sending } from "./lane.ts";
import { heldBackMax, inFlightMax, Lanes } from "./lanes.ts";
import { probeEveryMs } from "./probes.ts";

const test = suite("lanes");
let serial = 0;

function due(endpointId: string): DueDelivery {
  const id = `whd_${String(serial++).padStart(26, "0")}`;
  const event = { eventType: "t", body: Buffer.from("{}"), trigger: "auto", traceparent: null } as const;
  return { merchantId: "mer", endpointId, id, ...event, generation: 0, tries: 0, ageMs: 0 };
}

/** Lanes with their own clock. */
class LanesFixture {
  readonly lanes = new Lanes(30);
  nowMs = 0;

  add(endpointId: string, count: number): void {
    for (let i = 0; i < count; i++) this.lanes.take(due(endpointId), this.nowMs);
  }

  /** Starts every send that is allowed until the time has passed. */
  start(withinMs = 0): Sending[] {
    const sendings: Sending[] = [];
    for (const endMs = this.nowMs + withinMs; ; this.nowMs++) {
      for (let next = this.lanes.next(this.nowMs); next; next = this.lanes.next(this.nowMs)) sendings.push(next);
      if (this.nowMs >= endMs) return sendings;
    }
  }

  complete(sendings: readonly Sending[], signal: Signal, tookMs = 5): void {
    this.nowMs += tookMs;
    for (const sending of sendings) this.lanes.complete(sending, signal, this.nowMs);
    this.lanes.unparkAll();
  }

  /** Makes the lane a quick one. */
  makeQuick(endpointId: string): void {
    this.add(endpointId, 1);
    this.complete(this.start(probeEveryMs), "answered");
  }
}

const idOf = (sending: Sending) => sending.delivery.endpointId;

test("200 silent endpoints with backlogs delay no delivery of a healthy endpoint", () => {
  const t = new LanesFixture();
  for (let i = 0; i < 50; i++) t.makeQuick(`good${i}`);
  for (let i = 0; i < 200; i++) t.add(`dead${i}`, 4);
  const hanging = t.start(200 * probeEveryMs);
  assert.equal(hanging.length, heldBackMax.slow);
  assert(hanging.every((sending) => idOf(sending).startsWith("dead")));
  for (let i = 0; i < 50; i++) t.add(`good${i}`, 2);
  assert.equal(t.start().filter((sending) => idOf(sending).startsWith("good")).length, 100);
});

test("silent endpoints hold at most a quarter of the slots, and a new endpoint gets one at once", () => {
  const t = new LanesFixture();
  for (let i = 0; i < 200; i++) {
    t.add(`dead${i}`, 1);
    t.complete(t.start(probeEveryMs), "silent");
  }
  for (let i = 0; i < 200; i++) t.add(`dead${i}`, 2);
  const probes = t.start(200 * probeEveryMs);
  assert.equal(probes.length, heldBackMax.silent);
  assert.equal(new Set(probes.map(idOf)).size, probes.length);
  t.add("new", 1);
  assert.deepEqual(t.start(2 * probeEveryMs).map(idOf), ["new"]);
});

test("unproven endpoints start one at a time, as fast as they answer", () => {
  const t = new LanesFixture();
  for (let i = 0; i < 100; i++) t.add(`e${i}`, 2);
  assert.equal(t.start(10 * probeEveryMs).length, 11);
  const alive = new LanesFixture();
  for (let i = 0; i < 100; i++) alive.add(`e${i}`, 1);
  let rounds = 0;
  for (let left = 100; left > 0; rounds++) {
    const sendings = alive.start();
    left -= sendings.length;
    alive.complete(sendings, "answered", 1);
  }
  assert.equal(rounds, 100);
  assert.equal(alive.nowMs, 100);
});

test("every lane gets an equal share of each claim and its turn, whatever another lane's backlog", () => {
  const t = new LanesFixture();
  for (const id of ["big", "small1", "small2"]) {
    t.makeQuick(id);
    t.lanes.addBacklog(t.lanes.lane({ merchantId: "mer", endpointId: id }));
  }
  const quotas = t.lanes.takeQuotas(t.nowMs, 90).map((quota) => `${quota.endpointId} ${quota.wanted}`);
  assert.deepEqual(quotas, ["big 30", "small1 30", "small2 30"]);
  t.add("big", 30);
  t.add("small1", 2);
  t.add("small2", 2);
  const begun = t.start().map(idOf);
  assert.deepEqual(begun.slice(0, 6), ["big", "small1", "small2", "big", "small1", "small2"]);
});

test("lanes beyond one claim's size are served in turn", () => {
  const t = new LanesFixture();
  for (let i = 0; i < 10; i++) t.lanes.addBacklog(t.lanes.lane({ merchantId: "mer", endpointId: `e${i}` }));
  const served: string[] = [];
  for (let round = 0; round < 5; round++) {
    const quotas = t.lanes.takeQuotas(t.nowMs, 4);
    served.push(...quotas.map((quota) => quota.endpointId));
    for (const quota of quotas) t.lanes.addBacklog(t.lanes.lane(quota));
  }
  const lanes = Array.from({ length: 10 }, (_, i) => `e${i}`);
  assert.deepEqual(served.toSorted(), [...lanes, ...lanes].toSorted());
});

test("attempts in flight never exceed the limit", () => {
  const t = new LanesFixture();
  for (let i = 0; i < 100; i++) t.makeQuick(`e${i}`);
  for (let i = 0; i < 100; i++) t.add(`e${i}`, 8);
  assert.equal(t.start().length, inFlightMax);
  assert.equal(t.lanes.inFlight, inFlightMax);
});

test("while all slots are taken, only lanes below an equal share grow", () => {
  const limitsOf = (lanes: number) => {
    const t = new LanesFixture();
    const ids = Array.from({ length: lanes }, (_, i) => `e${i}`);
    for (const id of ids) t.makeQuick(id);
    const sending: Sending[] = [];
    for (let landed = 0; landed < 5_000; landed++) {
      if (landed % (30 * lanes) === 0) for (const id of ids) t.add(id, 40);
      sending.push(...t.start());
      t.complete(sending.splice(0, 1), "answered", 1);
    }
    const limits = ids.map((id) => t.lanes.lane({ merchantId: "mer", endpointId: id }).state.limit);
    return [Math.min(...limits), Math.max(...limits)];
  };
  assert.deepEqual(limitsOf(1), [32, 32]);
  assert.deepEqual(limitsOf(16), [16, 16]);
  assert.deepEqual(limitsOf(64), [4, 4]);
});

test("a claim that has waited for half of its lease is released instead of sent", () => {
  const t = new LanesFixture();
  t.makeQuick("e");
  t.add("e", 3);
  t.nowMs += 15_000;
  assert.deepEqual(t.start(), []);
  assert.equal(t.lanes.takeStale().length, 3);
  assert(t.lanes.hasBacklog(t.lanes.lane({ merchantId: "mer", endpointId: "e" })));
});

test.run();
