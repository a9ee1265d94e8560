// Mutants of what payments makes, looks for, holds and gives back at processors: keys, proof of absence, events,
// suspense, retries.
import { type Mutant, mutantsOf } from "./mutant.ts";

export const paymentsProcessor: readonly Mutant[] = [
  ...mutantsOf("services/payments/flows/make-at-processor.ts", [
    ["  noteBegun();\n", "", "a failure after something was sent does not say that nothing was done"],
    [
      'isOnceByItself && operation.tried && found.kind === "unknown" && found.isEmpty;',
      "false;",
      "a stored fault of a capture ends with its key",
    ],
    [
      "const isInVain = isOnceByItself &&",
      "const isInVain =",
      "a key is kept until absence is proved, but a capture's",
    ],
    [">= keyLifeSeconds * 1_000;", ">= 0;", "absence is proved by as long as keys live, not by one look"],
    [
      "operation.keyAgeSeconds < keyLifeSeconds * resendShare",
      "operation.keyAgeSeconds < keyLifeSeconds / resendShare",
      "a key is not sent again when the processor may have forgotten it",
    ],
    [
      "if (!(await recordResend(db, operation))) return found;",
      "",
      "what was not found before a send proves nothing after it",
    ],
    [
      'return found.kind === "unknown" && found.isEmpty ? sent : found;',
      'return found.kind === "unknown" ? sent : sent;',
      "a refusal does not hide what an earlier send has made",
    ],
    [
      'if (isKnown(sent) || (!operation.tried && sent.kind !== "unknown")) return sent;',
      'if (isKnown(sent)) return sent;\n  if (!operation.tried) return { kind: "not_sent", cause: sent };',
      "a send without an answer may have done it",
    ],
    [
      '(!operation.tried && sent.kind !== "unknown")',
      'sent.kind === "not_sent"',
      "that a later send failed says nothing of the first",
    ],
    ["!found.isEmpty || !mayResend", "!mayResend", "nothing is sent again before a whole look found nothing"],
    [
      "send(processorKey(operation))",
      "send(processorKey({ ...operation, generation: operation.generation + 1 }))",
      "what is sent again has the same key",
    ],
    [
      'if (found.kind === "unknown" && found.resumeAfter) await recordSearch(db, operation.id, found.resumeAfter);',
      "",
      "a search that is too long for one call goes on where it ended",
    ],
    [
      'await recordDoubt(db, operation.id, "cause" in sent ? String(sent.cause) : "no answer");',
      "",
      "that a send was not answered is remembered",
    ],
  ]),
  ...mutantsOf("services/payments/flows/settle-payment.ts", [
    [
      "if (!other && !books.holdsSuspense) return settled;",
      "if (!other) return settled;",
      "an intent that turned out right is held no longer",
    ],
    ["payment.version + (isSaved ? 1 : 0)", "payment.version", "a change's events carry the version after it"],
    ["if (isSaved) {", "if (isSaved && settlement.movements.length > 0) {", "every change of a payment is written"],
    [
      'state !== payment.state || (payment.connectorRef === "" && connectorRef !== "")',
      "state !== payment.state",
      "an intent's id is kept when nothing else is new",
    ],
    ["|| lookedAt === payment.version;", "|| true;", "an older report takes no paid payment off the list"],
    ["payment.scheduled === isSettled ||", "", "a payment that is settled is asked about no longer"],
    ["isSettled ? undefined : deps.reconcileAfterSeconds", "undefined", "a payment that is not settled is asked about"],
    [
      "appendMovements(tx, payment, settlement.movements, events));",
      "appendMovements(tx, payment, [], events));",
      "money that moved is booked with its change",
    ],
    [
      "owned.filter(({ unasked }) => unasked)",
      "owned.filter(({ unasked }) => unasked && false)",
      "a second refund is listed for an operator",
    ],
  ]),
  ...mutantsOf("services/payments/rules/part-report.ts", [
    [
      "if (!hasIntent && report.reference !== payment.id)",
      "if (report.reference !== payment.id)",
      "an intent that a payment has is its own, whatever its reference is",
    ],
    [
      'if (isOther) return { kind: "second_charge", what: "intent id" };',
      "",
      "an intent beside ours is never settled as ours",
    ],
    [
      "report.amount !== payment.state.amount",
      "report.amount > payment.state.amount",
      "an intent of a smaller amount is not the one that we asked for",
    ],
    [
      "if (counts(refund.status)) left -= part;",
      "",
      "what refunds take beyond the payment's own capture comes off what is held besides",
    ],
    [
      "Number(isAsked(b)) - Number(isAsked(a)) || ",
      "",
      "a refund that was asked for is the payment's before those of the dashboard",
    ],
    [
      "const ofDispute = ({ amount }: DisputeReport) => smaller(amount, own.amount);",
      "const ofDispute = ({ amount }: DisputeReport) => amount;",
      "a dispute takes no more from the payment than it has captured",
    ],
    [
      "return isMore ? { ...fact, capturedAmount: own.amount } : fact;",
      "return fact;",
      "what is the payment's is settled where its processor holds too much",
    ],
  ]),
  ...mutantsOf("services/payments/rules/suspense.ts", [
    [
      'heldIn(item) === 0n ? ["close"] : ["give_back"];',
      'heldIn(item) === 0n ? ["close"] : ["give_back", "take"];',
      "an intent of another amount is never the merchant's",
    ],
    [
      "const kind = known?.kind ?? other.kind;",
      "const kind = other.kind;",
      "an intent is held once, whatever it turns out to be",
    ],
    [
      'return known.resolution === "taken" || heldIn(known) !== 0n || heldIn(holding) <= 0n;',
      "return true;",
      "what is paid after its item was closed is held",
    ],
    [
      "!known && holding.amount === 0n",
      "!known && holding.amount >= 0n",
      "a charge beside ours is listed for an operator",
    ],
    ["holdingMovements(id, known, holding)", "[] as never[]", "a charge that nobody asked for stands in the journal"],
    ['known && "reopened"', "undefined", "what comes again after it went back is open again"],
    ['isEmpty ? "given_back" : known', 'isEmpty && !known ? "given_back" : known', "what went back ends its item"],
    [
      'return known.resolution === "taken" || heldIn(known)',
      "return heldIn(known)",
      "what an operator took is not held again",
    ],
    [
      'if (item.paidBy !== "" && !failed && !own) return [];',
      "",
      "a report that tells of no capture lets go of nothing that is held",
    ],
    ["{ ...item, returned: item.amount }", "item", "what turned out to be the payment's is not held any more"],
    ["paymentId === payment.id && ", "", "an item of another payment is left alone"],
    [
      'other ? open.filter(({ kind }) => kind === "lost_intent") : open',
      "other ? [] : open",
      "an intent that differs and was missing is not lost once the processor tells of it",
    ],
  ]),
  ...mutantsOf("services/payments/flows/settle-payment.ts", [
    [
      "payment.notFoundSince && report.ref === payment.connectorRef",
      "payment.notFoundSince && report.ref !== payment.connectorRef",
      "the absence of an intent that differs is counted anew once it was found",
    ],
  ]),
  ...mutantsOf("services/payments/flows/suspense/hold-suspense.ts", [
    [
      'if (kind === "other_amount" && move === "found") await askAtOnce(tx, payment.id);',
      "",
      "what turned out right is asked about again",
    ],
    ["if (await writeChange(", "if (!await writeChange(", "what is new in suspense is an alert"],
    ['held.push("second_refund");', "held.slice();", "a second refund is an alert"],
    ["returned: stands ? 0n : refund.amount", "returned: 0n", "a second refund that failed has taken nothing"],
  ]),
  ...mutantsOf("services/payments/flows/suspense/give-back.ts", [
    [
      "kept === 0n || itemNamed(reference) === item.id;",
      "kept === 0n || reference !== undefined;",
      "a buyer's own refund takes nothing off what an item gives back",
    ],
    [
      "pending.reduce((sum, refund) => sum + refund.amount, 0n)",
      "pending.reduce((sum) => sum, 0n)",
      "what is on its way back is not given back again",
    ],
    [
      "const left = amount - returned - pending",
      "const left = amount - pending",
      "what went back is not given back again",
    ],
    ["if (left === 0n) await closeOperation(", "await closeOperation(", "giving back goes on until nothing is left"],
    [
      "isOver ? await beginNextTry(deps.db, operation) : operation",
      "operation",
      "a try that is over is not made again",
    ],
    [
      "const next = await beginNextTry(deps.db, current);",
      "const next = current;",
      "what was declined is asked for under another key",
    ],
    [
      'if (made.kind === "never_made") return await refundRest(deps, connector, account, item, next, holding);',
      "",
      "what surely came to nothing is sent again, however old its key",
    ],
    [
      'if (item.resolution === "taken") {',
      'if (item.resolution === "gone") {',
      "what was taken is not given back any more",
    ],
    [
      "if (isOver) await settleNeverMade(tx, deps, { ...books, payment });",
      "",
      "a payment ends whose only intent was given back",
    ],
  ]),
  ...mutantsOf("services/payments/flows/suspense/resolve-suspense.ts", [
    ["if (!allowed.includes(word.action)) {", "if (allowed.length === 0) {", "an item takes only what fits its kind"],
    [
      "[released, ...openingMovements(taken)]",
      "[released]",
      "a second refund that was taken is the merchant's to bear",
    ],
    ["await noteWord(deps, item, word);", "", "who resolved an item stands in the audit log"],
  ]),
  ...mutantsOf("services/payments/flows/recovery/rebuild-payment.ts", [
    [
      "if (error instanceof Failure && error.cause instanceof SetAsideError) return known;",
      "",
      "a payment whose intent is in the operators' list is known to a recovery",
    ],
  ]),
  ...mutantsOf("services/payments/rules/suspense/set-aside-lines.ts", [
    [" && !isBooked(refund)", "", "a refund that the payment has booked is not the item's, whatever its name"],
    [
      "names.has(itemNamed(refund.reference))",
      "names.has(refund.reference)",
      "what each try gave back in the item's name is the item's",
    ],
    [
      "beside.amount + (known?.amount ?? 0n);",
      "beside.amount;",
      "a refund of more than the payment has is one line of a statement",
    ],
    [
      'refunds.filter(({ status }) => status === "succeeded")',
      "refunds",
      "what is on its way back has given nothing back",
    ],
    [
      'items.filter(({ state }) => state === "open").map(heldIn)',
      "items.map(heldIn)",
      "what a person took is held no longer",
    ],
    ["!failed.has(attempt.ref));", "attempt.ref);", "a debit that came back has taken nothing"],
  ]),
  ...mutantsOf("services/payments/store/suspense.ts", [
    [
      "where id = $1 and state = 'open' returning id`",
      "where id = $1 returning id`",
      "an item is ended once, whoever else ends it too",
    ],
    [
      "next_look_at = now() + make_interval(secs => least(60 * 2 ^ unanswered_looks, 3600))",
      "next_look_at = s.next_look_at",
      "one replica looks at an item that is set aside",
    ],
    [
      "where id = $1 and next_look_at = $2::timestamptz`",
      "where id = $1 and $2::timestamptz is not null`",
      "what changes beside a look at what is set aside is looked at after it",
    ],
  ]),
  ...mutantsOf("services/payments/flows/receive-processor-event.ts", [
    [
      "if (!isBehind && (!objectRef || isThere)) return report;",
      "if (!isBehind && (!objectRef || isThere || report)) return report;",
      "an event waits until the processor's lists have what it is about",
    ],
    [
      "if (!isBehind && (!objectRef || isThere)) return report;",
      "if (!objectRef || isThere) return report;",
      "an event of a forgotten attempt waits until the list that tells of it shows it",
    ],
    [
      'connector.retrieveIntent(account, intentRef, isForgettable ? id : "")',
      "connector.retrieveIntent(account, intentRef)",
      "an attempt that the intent has forgotten is looked for when its event comes",
    ],
    [
      "if (isOld(createdAt, answer.at) && !(await isAwaited(db, connector.name, intentRef))) return undefined;",
      "return undefined;",
      "an event about an intent of ours is not taken in without it",
    ],
    [
      "if (isOld(createdAt, answer.at) && !(await isAwaited(db, connector.name, intentRef))) return undefined;",
      "",
      "an event about a stranger's intent does not come again for ever",
    ],
    [
      "isOld(createdAt, answer.at) && !(await",
      "!(await",
      "an event about an intent whose id we do not have yet waits until it is found",
    ],
    [
      "if (isUnclaimed && !(await paymentOfIntent(db, asked))) return undefined;",
      "if (isUnclaimed) return undefined;",
      "an event without our reference is taken in where its intent is known",
    ],
    [
      "locked?.payment.connectorAccountId === account.id",
      "locked !== undefined",
      "an account's event moves no payment of another account",
    ],
    ["if (!fresh) throw new Repeat();", "", "an event that comes again changes nothing"],
  ]),
  ...mutantsOf("services/payments/flows/verify-intent.ts", [
    [
      "const lifeMs = connector.keyLifeSeconds * 1_000;",
      "const lifeMs = connector.keyLifeSeconds * 0;",
      "an intent that is missing once is not gone",
    ],
    ["!isNew && missingMs >= lifeMs", "missingMs >= lifeMs", "two misses by chance end no payment"],
    [
      "!isProved && !merchantAsked",
      "!merchantAsked && missingMs < 0",
      "a lost intent ends by itself only once absence is proved",
    ],
    [
      "if (missingMs < lifeMs * lagShare) throw failure;",
      "if (missingMs < lifeMs) throw failure;",
      "an intent that stays missing is listed for an operator",
    ],
    [
      "if (settled.mismatch !== undefined) throw",
      'if (settled.mismatch === "") throw',
      "an intent that is not ours confirms nothing",
    ],
    ["if (item) await closeSuspense(tx, item.id, end);", "", "a lost intent that is proved gone leaves the list"],
  ]),
  ...mutantsOf("services/payments/flows/create-payment.ts", [
    [
      "payment.state.visible ? openOrder(deps.vault, payment, operation) : undefined",
      "openOrder(deps.vault, payment, operation)",
      "a payment that its caller never saw is not sent again",
    ],
    [
      "await showPayment(deps.db, request.id);\n  await reopenOperation",
      "await reopenOperation",
      "a payment in doubt is shown as pending",
    ],
    [
      "if (!state.visible) await showPayment(deps.db, request.id);",
      "",
      "a payment that the processor has and has not begun is shown",
    ],
    [
      'await closeOperation(deps.db, "create_intent", request.id);\n    throw refusedOrder(made);',
      "throw refusedOrder(made);",
      "what its caller was told did not happen is not sent by us",
    ],
    [
      '} else if (made.kind === "declined" || made.kind === "never_made") {',
      '} else if (made.kind === "declined") {',
      "a payment that surely was never made fails",
    ],
  ]),
  ...mutantsOf("services/payments/flows/refunds/reserve-refund.ts", [
    [
      "reservable(payment.state, known.amount, refundedAtMost);",
      "reservable(payment.state, known.amount);",
      "a refund that was not sent is taken again within the limit of who asks",
    ],
    [
      "if (problem !== undefined) throw",
      'if (problem === "") throw',
      "an amount that the processor refuses is not tried",
    ],
    [
      "if (!neverSent(known)) {",
      "if (!neverSent(known) || known.amount > 0n) {",
      "a retry takes up a refund that was never made",
    ],
    ['await recordTakeOver(tx, "create_refund", refundId);', "", "a retry knows that an earlier run may have refunded"],
    [
      "if (!account.refundsEnabled) throw",
      "if (account.refundsEnabled === undefined) throw",
      "refunds can be switched off",
    ],
  ]),
  ...mutantsOf("services/payments/store/intent-owners.ts", [
    [
      "(await sql.together(ownersOfIntents, intent)) ?? intent.reference",
      "intent.reference",
      "what our books know of an intent decides whose it is",
    ],
    ["coalesce(p.id, s.payment_id) as owner", "p.id as owner", "an intent that is set aside stays its payment's"],
  ]),
  ...mutantsOf("services/payments/store/payments.ts", [
    [
      "owner.merchantId && payment.environment === owner.environment",
      "owner.merchantId",
      "a test key does not refund live payments",
    ],
  ]),
  ...mutantsOf("services/payments/store/refunds/refund-reservations.ts", [
    [
      'await renewOperation(tx, "create_refund", refund.id, tryAfterSeconds);',
      "",
      "a refund that is taken up again is asked for under a new key",
    ],
  ]),
  ...mutantsOf("services/payments/flows/refunds/drive-refund.ts", [
    [
      'answer.kind === "not_sent" && !(await isUntouched(tx, payment.id, operation))',
      'answer.kind === "not_sent" && (await isUntouched(tx, payment.id, operation)) === undefined',
      "that our try was not sent says nothing of another's",
    ],
    [
      'return refund.status === "failed" && refund.connectorRef === "";',
      'return refund.status === "failed";',
      "a refund that failed after it was made is told as a refund",
    ],
  ]),
  ...mutantsOf("services/payments/jobs/poll-events.ts", [
    ["readUntil.getTime() - overlapMs", "readUntil.getTime() - 0 * overlapMs", "an entry that shows up late is read"],
    [
      "return held && reached && held < reached ? held : reached;",
      "return reached;",
      "an event that could not be taken in comes again",
    ],
    ["else held = earlier(held, event.createdAt);", "", "a list is held back by an event that could not be taken in"],
    [
      'if (after === "" || !since) break;',
      'if (after === "" || !since || pages >= 0) break;',
      "a list is read to its end",
    ],
    [
      "await takeInEvent(deps, account, event);",
      "void takeInEvent(deps, account, event);",
      "an event counts as read when it was taken in",
    ],
  ]),
  ...mutantsOf("services/payments/jobs/reconcile.ts", [
    [
      "if (isDown(deps, payment)) return await deferOperation(",
      'if (isDown(deps, payment) && operation.id === "") return await deferOperation(',
      "an outage does not use up an operation's tries",
    ],
    [
      "payment.expiresAt.getTime() + orphanPatienceMs < clockMs()",
      "payment.expiresAt.getTime() - orphanPatienceMs < clockMs()",
      "an intent is canceled only after its time",
    ],
    [
      "if (isKnown(found)) await recordMade(",
      'if (isKnown(found) && found.value.report.ref === "") await recordMade(',
      "an intent whose answer was lost is found",
    ],
    [
      'if (found.kind === "never_made") await closeOperation(deps.db, "create_intent", payment.id);',
      "",
      "an intent that was never made is no longer looked for",
    ],
    ['moneyAlerts.inc({ kind: "operation_parked" });', "", "an outcome that was never told raises an alert"],
  ]),
];
