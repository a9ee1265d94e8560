// Decisions about an adjustment, and its lines.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { decideAdjustment, readLine } from "./adjustment.ts";

const test = suite("adjustment");
const waiting = { state: "proposed", proposedBy: "usr_ann", decidedBy: "" } as const;

test("the proposer may reject an adjustment but not approve it", () => {
  assert.equal(decideAdjustment(waiting, "approved", "usr_ann").kind, "own");
  assert.equal(decideAdjustment(waiting, "rejected", "usr_ann").kind, "decide");
});

test("another person decides once; a repeat changes nothing, a third person is refused", () => {
  assert.equal(decideAdjustment(waiting, "approved", "usr_bob").kind, "decide");
  const approved = { state: "approved", proposedBy: "usr_ann", decidedBy: "usr_bob" } as const;
  assert.equal(decideAdjustment(approved, "approved", "usr_bob").kind, "unchanged");
  assert.equal(decideAdjustment(approved, "approved", "usr_cleo").kind, "decided");
  assert.equal(decideAdjustment(approved, "rejected", "usr_bob").kind, "decided");
  assert.equal(decideAdjustment(approved, "approved", "usr_ann").kind, "decided");
});

test("a line needs a currency and two different accounts of the books", () => {
  const line = { currency: "EUR", debit: "adjustments", credit: "merchant_balance", amount: 1n };
  assert.deepEqual(readLine(line), line);
  for (const [change, field] of [
    [{ currency: "XXY" }, "currency"],
    [{ debit: "petty_cash" }, "debit"],
    [{ credit: "" }, "credit"],
    [{ credit: "adjustments" }, "credit"],
  ] as const) {
    const read = readLine({ ...line, ...change });
    assert.equal("field" in read ? read.field : "", field);
  }
});

test.run();
