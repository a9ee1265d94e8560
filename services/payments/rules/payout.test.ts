// A payout only moves forward, whatever the order of the reports.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { nextPayoutStatus, payoutEvent } from "./payout.ts";

const test = suite("payouts");
const all = ["pending", "in_transit", "paid", "failed", "returned"] as const;

test("a late report changes nothing, and a payout that was paid fails as returned", () => {
  assert.equal(nextPayoutStatus("paid", "in_transit"), "paid");
  assert.equal(nextPayoutStatus("in_transit", "pending"), "in_transit");
  assert.equal(nextPayoutStatus("paid", "failed"), "returned");
  assert.equal(nextPayoutStatus("in_transit", "failed"), "failed");
  for (const end of ["failed", "returned"] as const) {
    for (const report of all) assert.equal(nextPayoutStatus(end, report), end);
  }
});

test("each payout is announced as paid once and as failed once at most", () => {
  for (const reports of all.flatMap((a) => all.flatMap((b) => all.map((c) => [a, b, c] as const)))) {
    let known: (typeof all)[number] | undefined;
    const events = reports.flatMap((report) => {
      const next = nextPayoutStatus(known, report);
      const event = payoutEvent(known, next);
      known = next;
      return event ?? [];
    });
    assert.ok(new Set(events).size === events.length && events.join() !== "failed,paid", reports.join());
  }
});

test.run();
