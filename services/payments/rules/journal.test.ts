// The accounts of every movement, written down a second time.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { postings } from "./journal.ts";

const test = suite("journal accounts");

/** By kind: from the account that is debited to the one that is credited. */
const wanted: Readonly<Record<string, string>> = {
  captured: "processor_clearing → merchant_balance",
  capture_returned: "merchant_balance → processor_clearing",
  fee_charged: "merchant_balance → fees_revenue",
  fee_returned: "fees_revenue → merchant_balance",
  refund_reserved: "merchant_balance → refunds_pending",
  refund_released: "refunds_pending → merchant_balance",
  refund_paid: "refunds_pending → processor_clearing",
  refund_returned: "processor_clearing → merchant_balance",
  dispute_held: "merchant_balance → disputes_held",
  dispute_released: "disputes_held → merchant_balance",
  dispute_lost: "disputes_held → processor_clearing",
  dispute_recovered: "processor_clearing → merchant_balance",
  suspense_held: "processor_clearing → suspense",
  suspense_released: "suspense → processor_clearing",
  suspense_refunded: "suspense → processor_clearing",
  suspense_refund_released: "processor_clearing → suspense",
  suspense_kept: "suspense → adjustments",
  suspense_written_off: "adjustments → suspense",
};

test("every movement debits and credits its two different accounts", () => {
  for (const [kind, { debit, credit }] of Object.entries(postings)) {
    assert.equal(`${debit} → ${credit}`, wanted[kind], kind);
    assert.notEqual(debit, credit, kind);
  }
});

test.run();
