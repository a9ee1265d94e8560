// Mutants of captures and cancellations: who may take what is authorized, what an authorization's end books, and what
// is made of the processor's word.
import { type Mutant, mutantsOf } from "./mutant.ts";

export const paymentsCaptures: readonly Mutant[] = [
  ...mutantsOf("services/payments/rules/capture.ts", [
    ["isResumed && payment.outcome", "payment.outcome", "a second capture of the same amount is refused"],
    ["payment.capturedAmount === amount) return", "payment.capturedAmount > 0n) return", "another amount is not done"],
    [
      'if (!isAuthorized(payment)) return { kind: "refused", reason: "NOT_CAPTURABLE" };',
      "",
      "what is not authorized is not captured",
    ],
    [
      'if (amount > payment.amount) return { kind: "refused", reason: "AMOUNT_TOO_LARGE" };',
      "",
      "no more is captured than is authorized",
    ],
    [
      'underWay.kind === "capture" && underWay.amount === amount',
      "underWay.amount === amount",
      "a cancellation goes first",
      "a cancellation's amount is 0, and a capture's never is",
    ],
    [
      'underWay.kind === "capture" && underWay.amount === amount',
      'underWay.kind === "capture"',
      "a capture of another amount goes first",
    ],
    ["isPaid || isOver ||", "isOver ||", "what is captured is not canceled"],
    ["isPaid || isOver ||", "isPaid ||", "what failed for good is not canceled"],
    [' || underWay?.kind === "capture") return', ") return", "a capture goes before a cancellation"],
  ]),
  ...mutantsOf("services/payments/rules/payment.ts", [
    [
      'if (state.outcome === "canceled" && fact.capturedAmount === 0n) return ignore(state, "a canceled payment stays");',
      "",
      "an authorization that is over does not come back",
    ],
    [" && !isReleased(state);", ";", "money that was taken outweighs that an authorization was given up"],
    ["(taken <= 0n || isOther)", "(state.capturedAmount > 0n || isOther)", "what is captured besides is booked"],
    [
      'if (taken > 0n) movements.push({ kind: "captured", cause: fact.attempt.ref, amount: taken, at });',
      'if (taken > 0n) movements.push({ kind: "captured", cause: fact.attempt.ref, amount: fact.capturedAmount, at });',
      "what is captured besides is booked once",
    ],
    [
      "|| said > state.capturedAt ? said : undefined",
      "|| said >= state.capturedAt ? said : undefined",
      "a capture whose time is not known has the fee of its booking",
    ],
    [
      'if (isAnnounced && state.outcome === "succeeded" && statusOf(state) !== "succeeded") return [];',
      "",
      "no event says succeeded after one that says refunded",
    ],
    [
      "state.refundedAmount === 0n || state.capturedAmount === 0n",
      "state.refundedAmount === 0n",
      "what is only authorized is not refunded",
    ],
    ["if (isAuthorized(state)) return release(state, fact);", "", "an authorization may be given up"],
    [
      'if (state.outcome === "succeeded") return ignore(state, "a captured payment stays");',
      "",
      "what is captured stays",
    ],
    ["if (isAuthorized(state)) return release(state, { at });", "", "a lost authorization ends"],
    [
      'state.captureMethod === "manual" && taken > 0n ? ["payment.captured"] : []',
      "[] as never[]",
      "merchants hear of a capture",
    ],
    [
      'state.captureMethod === "manual" && taken > 0n',
      "taken > 0n",
      "what is captured at once announces no capture of its own",
    ],
    ["if (!isExpired) return", "if (isExpired) return", "an authorization says how it ended"],
    [" && state.failedAt === undefined;", ";", "a debit that came back was not released"],
  ]),
  ...mutantsOf("services/payments/rules/settlement.ts", [
    [
      'outcome === "succeeded" && !isAuthorized(this.state)',
      'outcome === "succeeded"',
      "an authorization is asked about",
    ],
    ['isOver ? "reconcile" : path', "path", "an end announces no success that was announced"],
    [
      "const index = this.#attempts.findIndex",
      "const index = -1; this.#attempts.findIndex",
      "an attempt is written once",
    ],
  ]),
  ...mutantsOf("services/payments/flows/make-at-processor.ts", [
    [
      "find: () => findCaptured(connector, account, order.intentRef),",
      "find: () => connector.retrieveIntent(account, order.intentRef),",
      "an authorization that is read is no capture",
    ],
    ["|| facts.some((fact) => isCaptureOf(last.attempt.ref, fact))", "", "what is captured is found"],
    ["fact.attempt.ref === attemptRef && ", "", "a capture that came back is not taken for the next one"],
  ]),
  ...mutantsOf("services/payments/flows/cancel-intent.ts", [
    [
      'payment.state.captureMethod === "manual" ? "keep" : "release"',
      '"release"',
      "a session's end never gives an authorization up",
    ],
  ]),
  ...mutantsOf("services/payments/flows/settle-payment.ts", [
    [
      "const ended = isOver ? await closeEndings(tx, id) : undefined;",
      "const ended = undefined as { kind: string; amount: bigint } | undefined;",
      "the processor's word ends what was asked for",
    ],
    [
      "if (!wasOpen) return state.capturedAmount > before.capturedAmount && before.capturedAmount > 0n;",
      "if (!wasOpen) return false;",
      "what is captured again is an alert",
    ],
    [" || isReturned(state) || isReplaced;", ";", "a capture takes nothing of the authorization after its own"],
  ]),
  ...mutantsOf("services/payments/flows/endings/drive-capture.ts", [
    [
      'made.kind === "never_made" || (await lockUntouched(tx, operation.id))',
      "true",
      "a try that was not sent says nothing of another",
    ],
    [
      'payment.state.outcome === "succeeded" && payment.state.capturedAmount === operation.amount;',
      'payment.state.outcome === "succeeded" && !isAuthorized(payment.state);',
      "what was captured otherwise is not what was asked for",
    ],
    [
      'isAuthorized(payment.state) && made.kind !== "declined"',
      "isAuthorized(payment.state)",
      "a refused capture is over",
    ],
    [
      "if (!isKnown(answer)) return await deferEnding(deps, payment, record);",
      'if (!isKnown(answer)) throw new Failure("NOT_CAPTURABLE");',
      "unknown is not refused",
    ],
  ]),
  ...mutantsOf("services/payments/flows/endings/drive-cancel.ts", [
    ["if (isDeclined && !isCanceled) return", "if (isDeclined) return", "a cancellation that was done before is done"],
    ["if (isCanceled || isDeclined) await", "if (isCanceled) await", "a refused cancellation is over"],
  ]),
  ...mutantsOf("services/payments/flows/endings/reserve-ending.ts", [
    ["await recordTakeOver(tx, kind, paymentId);", "", "the run that began no longer speaks for all tries"],
    [
      "assertTaken(connector, kind, decision.amount, payment.currency);",
      "if (amount === 0n) assertTaken(connector, kind, decision.amount, payment.currency);",
      "an amount that the processor never takes is refused before anything is reserved",
    ],
  ]),
  ...mutantsOf("services/payments/store/endings.ts", [
    ["generation = o.generation + 1, ", "", "what came to nothing begins under a new key"],
    ["where o.state = 'done'", "", "what is under way is not begun anew"],
    [
      " and state <> 'done'`,\n    [paymentId],\n  );\n  return row && endingOf(row);\n}\n\n/**",
      "`,\n    [paymentId],\n  );\n  return row && endingOf(row);\n}\n\n/**",
      "what has ended is under way no more",
    ],
  ]),
  ...mutantsOf("services/payments/store/payment-checks.ts", [
    [
      "         case when capture_before > now() then extract(epoch from capture_before - now()) + ($1::float8[])[1] end))",
      "         null))",
      "an authorization is asked about when its time is over",
    ],
  ]),
  ...mutantsOf("services/payments/connectors/stripe/objects.ts", [
    [".filter((refund) => !releases.includes(refund))", "", "what was never taken is not refunded"],
    [
      "...(releases.length > 0 && { releases: releases.map(({ id }) => id) }),",
      "",
      "what a listed event is about, its intent shows",
    ],
  ]),
  ...mutantsOf("services/payments/connectors/stripe/endings.ts", [
    [
      'isPage || authorized === "release" ? nothingHeld',
      "true ? nothingHeld",
      "an authorization is kept when that is wanted",
    ],
    [
      'if (!isPage || authorized === "keep" || ended',
      "if (!isPage || ended",
      "a page's authorization is kept when that is wanted",
    ],
    ["{ amount_to_capture: written }", "{}", "a part is captured alone"],
  ]),
  ...mutantsOf("services/payments/connectors/stripe/attempts.ts", [
    ['intent.cancellation_reason === "automatic" && facts', "facts", "an authorization says why it ended"],
    ["(moved ? dateOf(moved.created) : at)", "at", "a capture is of the time when it was made"],
  ]),
  ...mutantsOf("services/payments/connectors/simulator/objects.ts", [
    ["new Date(intent.captured_at ?? at)", "at", "a capture is of the time when it was made"],
    [
      'intent.cancellation_reason === "expired"',
      'intent.cancellation_reason === ""',
      "an authorization says why it ended",
    ],
  ]),
];
