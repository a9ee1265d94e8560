// Mutants of how payments takes in what a processor says: the fold, refunds and disputes in it, the payment machine's
// ends, suspense, and the auditor that judges the books.
import { type Mutant, mutantsOf } from "./mutant.ts";

export const paymentsSettlement: readonly Mutant[] = [
  ...mutantsOf("services/payments/rules/settlement.ts", [
    [
      'known.amount !== report.amount || known.connectorRef !== ""',
      "known.amount !== report.amount",
      "a second refund under our reference is told from the first",
    ],
    [
      "known.amount !== report.amount || ",
      "",
      "a refund under our reference of another amount is not the one that we asked for",
    ],
    [
      '|| (known.status === "failed" && counts(report.status))',
      "",
      "a refund that was given up and made after all is a second one",
    ],
    ["this.#importRefund(report, true)", "this.#importRefund(report, false)", "a second refund is not the merchant's"],
    [
      'this.#asksAgain || disputeHold === "open"',
      'disputeHold === "open"',
      "a payment with news that did not fit is asked about again",
    ],
    ["asksAgain: this.#asksAgain,", "asksAgain: false,", "that a payment is to be asked about again is written"],
    [
      "if (!counts(news.report.status)) draft.askAgain();",
      "",
      "an amount that was given back makes room for a refund that did not fit",
    ],
    [
      "capturedAmount) - refundedAmount;",
      "capturedAmount) - 0n * refundedAmount;",
      "a refund of the dashboard waits until it fits",
    ],
    [
      "(isBack ? amount : capturedAmount)",
      "capturedAmount",
      "a refund that was made before its debit came back is taken in",
    ],
    ["if (counts(status)) this.addRefunded(amount);", "", "a refund of the dashboard counts"],
    [
      'named && report.ref === "" && named.connectorRef !== ""',
      "named && !report",
      "a refund that the processor has is not given back for a refused try",
    ],
    ["this.#changedRefunds.get(next.id)?.isNew ?? false", "false", "a new refund that is told twice is written"],
    [
      "known && !isInquiry(known.status) ? known.amount",
      "known ? known.amount",
      "what an inquiry is about may grow until money is held",
    ],
    [
      "!this.#released.has(id) && holdOf(status) === hold",
      "holdOf(status) === hold",
      "a dispute about a debit that came back never holds what was paid afterwards",
    ],
    ["this.addRefunded(-change.givenBack);", "", "a refund that failed no longer counts"],
    ["this.#movements.push(...openingMovements(refund));", "", "a refund of the dashboard is booked"],
    [
      "deciding.reduce((sum, dispute) => sum + dispute.amount, 0n)",
      "deciding[0]?.amount ?? 0n",
      "all open disputes hold the payment, not the first alone",
    ],
    [
      'open.length > 0 ? (["open", open] as const) : (["lost", lost] as const)',
      'lost.length === 0 ? (["open", open] as const) : (["lost", lost] as const)',
      "an open dispute holds the payment beside a lost one",
    ],
    [
      "if (!released) this.#movements.push(...change.movements);",
      "this.#movements.push(...change.movements);",
      "a dispute about money that came back holds nothing",
    ],
    [
      'this.#movements.unshift({ kind: "dispute_released", cause: id, amount });',
      "void { id, amount };",
      "a returned debit releases what its open dispute held",
    ],
    [
      '(outcome === "failed" && this.#books.isDirect)',
      'outcome === "failed"',
      "a declined payment of a session can still be paid",
    ],
    [
      'if (!isHeard && statusOf(state) !== statusOf(this.#books.state)) this.#announce("payment.updated");',
      "",
      "every change of status is told to whoever follows payments",
    ],
    [
      'outcome: isReturned(state) || isReleased(state) ? "succeeded" : state.outcome,',
      'outcome: isReleased(state) ? "succeeded" : state.outcome,',
      "a debit that came back does not reopen its session",
    ],
    [
      'outcome: isReturned(state) || isReleased(state) ? "succeeded" : state.outcome,',
      'outcome: isReturned(state) ? "succeeded" : state.outcome,',
      "the session of an authorization that was given up stays completed",
    ],
    [
      "payment_status: statusOf(state),",
      "payment_status: statusOf(this.#books.state),",
      "an event tells where the payment stands after it",
    ],
    [
      'return type === "payment.refunded" ? refundedStatus(state) : statusOf(state);',
      "return statusOf(state);",
      "payment.refunded tells by the amounts, whatever disputes say",
    ],
  ]),
  ...mutantsOf("services/payments/rules/payment.ts", [
    [
      'return isPaying ? takeBack(state, fact) : ignore(state, "already known");',
      'return ignore(state, isPaying ? "paid" : "already known");',
      "a debit that comes back takes the capture back",
    ],
    ['if (state.disputeHold === "lost") return ignore(', "if (false) return ignore(", "money is not lost twice"],
    [
      "capturedAmount: 0n,\n    feeAmount: 0n,",
      "capturedAmount: 0n,\n    feeAmount: state.feeAmount,",
      "a debit that came back costs no fee",
    ],
    [
      'if (state.feeAmount > 0n) movements.push({ kind: "fee_returned"',
      'if (state.feeAmount < 0n) movements.push({ kind: "fee_returned"',
      "the fee of a debit that came back is booked back",
    ],
    [
      "announcedByConfirm: false,",
      "announcedByConfirm: state.announcedByConfirm,",
      "a payment that is paid anew is announced anew",
    ],
    [
      'if (hasFailed(state, fact.attempt.ref)) return ignore(state, "this attempt failed afterwards");',
      "",
      "a late success does not undo a return",
    ],
    [
      'if (isReturned(state)) return ignore(state, "a returned payment stays");',
      "",
      "a returned payment does not become canceled",
    ],
    [
      "if (hasFailed(state, fact.attempt.ref))",
      "if (isReturned(state) && hasFailed(state, fact.attempt.ref))",
      "a debit whose return is heard of first is never paid",
    ],
    ["if (!isDirect || !state.visible) return", "if (!isDirect) return", "a payment that nobody saw does not fail"],
    [
      "if (!isDirect || !state.visible) return",
      "if (!state.visible) return",
      "a session's intent that was never made is canceled",
    ],
    [
      'if (state.outcome === "succeeded" || state.outcome === "canceled" || isReturned(state)) {',
      'if (state.outcome === "canceled" || isReturned(state)) {',
      "a paid payment never ends as one that was not made",
    ],
    ["if (amounts.capturedAmount === 0n) return 0n;", "", "nothing is left of a payment without a capture"],
    ["amounts.feeAmount - amounts.lostAmount", "amounts.feeAmount", "lost disputes are not left to the merchant"],
    [
      'if (isOlder(state, attempt)) return ignore(state, "a newer attempt is known");',
      "",
      "an older attempt does not hide a newer one",
    ],
    [
      'return isAnnounced ? [] : ["payment.succeeded"];',
      'return state.announcedByConfirm ? [] : ["payment.succeeded"];',
      "our own question does not announce what the webhook has announced",
    ],
  ]),
  ...mutantsOf("services/payments/rules/journal.ts", [
    [
      'capture_returned: { debit: "merchant_balance", credit: "processor_clearing" }',
      'capture_returned: { debit: "processor_clearing", credit: "merchant_balance" }',
      "a debit that came back is no longer owed to the merchant",
    ],
    [
      'fee_returned: { debit: "fees_revenue", credit: "merchant_balance" }',
      'fee_returned: { debit: "fees_revenue", credit: "processor_clearing" }',
      "the fee comes back to the merchant",
    ],
    [
      'suspense_held: { debit: "processor_clearing", credit: "suspense" }',
      'suspense_held: { debit: "processor_clearing", credit: "merchant_balance" }',
      "a charge that nobody asked for is not the merchant's",
    ],
    [
      'suspense_released: { debit: "suspense", credit: "processor_clearing" }',
      'suspense_released: { debit: "processor_clearing", credit: "suspense" }',
      "what went back is held no longer",
    ],
    [
      'suspense_refunded: { debit: "suspense", credit: "processor_clearing" }',
      'suspense_refunded: { debit: "merchant_balance", credit: "processor_clearing" }',
      "the merchant does not bear a second refund",
    ],
  ]),
  ...mutantsOf("services/payments/rules/suspense.ts", [
    [
      "const amount = whole.amount - kept;",
      "const amount = whole.amount;",
      "what a payment has captured is not held besides",
    ],
    [
      '...refunds.filter(({ status }) => status === "succeeded"),',
      '...refunds.filter(({ status }) => status === "succeeded" || status === "pending"),',
      "a refund that is under way has given nothing back",
    ],
    ['...disputes.filter(({ status }) => status === "lost"),', "", "what a lost dispute took is not there any more"],
    [
      "{ amount, returned, paidBy } : { ...known, returned: known.amount }",
      "{ amount, returned, paidBy } : known",
      "a charge that came back as a whole was returned",
    ],
    [
      'const isPaidAnew = paidBy !== "" && !told.failedAttempts.has(paidBy);',
      "const isPaidAnew = false;",
      "what was paid again by another attempt is held again",
    ],
    [
      "succeeded.findLast(({ attempt }) => !failedAttempts.has(attempt.ref)) ?? ",
      "",
      "an attempt that came back has not paid, wherever it stands in the report",
    ],
    ['paidBy === "" || told.accounted', "told.accounted", "a report from before the charge takes nothing back"],
    ['paidBy === "" || told.accounted < known.returned', 'paidBy === ""', "a report from before a refund undoes none"],
    [
      'return [{ kind: "suspense_held", cause: id, amount: change }];',
      'return [{ kind: "suspense_released", cause: id, amount: change }];',
      "what is held is booked as held",
    ],
    [
      "heldIn(after) - (before ? heldIn(before) : 0n)",
      "heldIn(after)",
      "what is held is booked once, however often it is told",
    ],
    ["return amount - returned;", "return amount;", "what went back is held no longer"],
    ['if (item.state === "closed") return [];', "", "a closed item takes no action"],
  ]),
  ...mutantsOf("services/payments/audit/books.ts", [
    [
      "kept === keptAmount ? []",
      "kept !== 0n ? []",
      "the auditor believes no item that says something else was captured",
    ],
    ["...countedTwice(books),", "", "the auditor sees one attempt's money as a capture and in suspense"],
  ]),
  ...mutantsOf("services/payments/audit/facts.ts", [
    ['return isCharge && state === "open" ?', "return isCharge ?", "a closed item holds nothing"],
    [
      'outcome === "succeeded" ? disputes.filter(({ released }) => !released) : [];',
      "outcome === null ? [] : disputes.filter(({ released }) => !released);",
      "the auditor lets no dispute hold money that came back",
    ],
    ['["suspense", unasked - strange],', '["suspense", unasked],', "the auditor counts charges nobody asked for"],
  ]),
];
