// Mutants of the flows and jobs of payments: order of phases, who may settle, what is asked again, what is compared.
import { type Mutant, mutantsOf } from "./mutant.ts";

export const paymentsFlows: readonly Mutant[] = [
  ...mutantsOf("services/payments/flows/accounts/ask-processor.ts", [
    [
      "if (isKnown(answer)) return answer.value;\n  throw",
      'if (isKnown(answer)) return answer.value;\n  if (answer.kind === "unknown") return undefined as T;\n  throw',
      "an answer that brings no facts is no fact",
    ],
    ["max: cacheMax, ttl: cacheMs", "max: cacheMax", "a changed account is used as it is now"],
  ]),
  ...mutantsOf("services/payments/flows/verify-intent.ts", [
    [
      'path === "confirm" && payment.state.outcome === "succeeded" && payment.state.announcedByConfirm',
      'payment.state.outcome === "succeeded"',
      "a payment is asked about again after it was paid",
    ],
    [
      "settlePayment(tx, deps, paymentId, report, path, lookedAt)",
      'settlePayment(tx, deps, paymentId, report, "processor")',
      "each path announces under its own name",
    ],
    ["const difference = mismatch ?? (", "const difference = (", "an intent that is not ours raises an alert"],
    ["isRenamed ? ", "mismatch ? ", "an intent whose reference was edited raises an alert"],
  ]),
  ...mutantsOf("services/payments/flows/confirm-intent.ts", [
    ['account.merchantStatus === "active" && ', "", "a suspended merchant takes no new money"],
    [
      'event.type !== "merchant.updated" || event.status === "active"',
      'event.type !== "merchant.updated" || event.status !== "active"',
      "a suspended merchant's unpaid intents end by themselves",
    ],
  ]),
  ...mutantsOf("services/payments/flows/renewals/renew-intent.ts", [
    ["report.pageEndedAt === undefined || ", "", "a page that lives is not replaced"],
    [
      "if (payment.connectorRef !== connectorRef || !isUnpaid(payment.state)) return undefined;",
      "",
      "a payment that moved on meanwhile is not renewed",
    ],
  ]),
  ...mutantsOf("services/payments/flows/renewals/adopt-renewal.ts", [
    ["if (after?.connectorRef !== connectorRef) {", "if (!after) {", "a renewal that comes too late cannot be paid"],
  ]),
  ...mutantsOf("services/payments/flows/cancel-intent.ts", [
    [
      "const payment = renewal ? await endRenewal(deps, read, renewal) : read;",
      "const payment = read;",
      "a renewal that nobody recorded is canceled with its session",
    ],
    [
      "return report.pageEndedAt === undefined ? after : await settleEnd(deps, payment, ref, report);",
      "return after;",
      "a session ends although its page has ended by itself",
    ],
  ]),
  ...mutantsOf("services/payments/flows/suspense/look-at-item.ts", [
    [
      'const isStillLost = kind === "lost_intent" && ',
      "const isStillLost = ",
      "that a processor knows nothing of an intent which it was paid for is no answer",
    ],
  ]),
  ...mutantsOf("services/payments/flows/match-statement.ts", [
    [
      "from.getTime() - marginMs), to: new Date(to.getTime() + marginMs)",
      "from.getTime() + marginMs), to: new Date(to.getTime() - marginMs)",
      "the statement is read a little wider than our books",
    ],
    ['} while (after !== "");', '} while (after === "never");', "a statement is read to its last page"],
    [
      "await this.#settle(intents.filter(",
      "void (intents.filter(",
      "what the statement has of our payments is taken in",
    ],
    [
      "if (own) await verifyIntent(this.#deps, own.paymentId",
      'const named = { connector: this.#connector.name, connectorRef: ref, reference: "" };\n        const owner = await paymentOfIntent(this.#deps.db, named);\n        if (own ?? owner) await verifyIntent(this.#deps, own?.paymentId ?? owner ?? ""',
      "the intent that a line names is asked about, not the payment's own",
    ],
    [
      "if (unseen.length > 0) await",
      "if (unseen.length > 1_000) await",
      "a give-back that was never made is found on its day",
    ],
    [
      "captured || line.amount === 0n ? [] : line));",
      "captured || line.amount >= 0n ? [] : line));",
      "a second charge that we hold and the processor does not know is told",
    ],
    [
      "const left = await this.#compare(lines, intents);",
      "const left: Difference[] = [];",
      "what settling did not take in is told",
    ],
    [
      "page.lines.filter((line) => !this.#seen.has(key(line)))",
      "page.lines.filter((line) => this.#seen.has(key(line)))",
      "what we hold and the processor does not is told",
    ],
    [
      'line.object === "payment" ? !paid : !known.has(line.ref)',
      'line.object === "payment" ? paid : !known.has(line.ref)',
      "what moved in another period is not missing",
    ],
    [
      'moneyAlerts.inc({ kind: "statement_difference" }, fresh);',
      'moneyAlerts.inc({ kind: "statement_difference" }, 0);',
      "a difference raises an alert",
    ],
  ]),
  ...mutantsOf("services/payments/flows/fee-schedules.ts", [
    [
      'await outbox.append(tx, [announcement("fee_schedule.set", inserted, fee.operator, terms)]);',
      'told("fee_schedule.set", inserted, fee.operator, terms);',
      "a new fee stands in the audit log",
    ],
    [
      'if (outcome === "begun")',
      'if (outcome === ("gone" as string))',
      "a schedule that has begun is not removed, and its remover is told",
    ],
  ]),
  ...mutantsOf("services/payments/jobs/match-statements.ts", [
    ["matchedUntil: fits ? to : matchedUntil,", "matchedUntil: to,", "an account goes on where it stood"],
    [
      "await finishMatch(deps.db, accountId, { matchedUntil, pauseSeconds: retrySeconds",
      "await finishMatch(deps.db, accountId, { matchedUntil: new Date(), pauseSeconds: retrySeconds",
      "a day that could not be read is read later",
    ],
    ["clockMs() - lagMs", "clockMs()", "what is still under way is not compared"],
  ]),
  ...mutantsOf("services/payments/jobs/check-journal.ts", [
    [
      'if (next !== "") await finishStretch(deps.db, last, 0);',
      'if (next === "-") await finishStretch(deps.db, last, 0);',
      "a pass goes on after its first batch",
    ],
    [
      'moneyAlerts.inc({ kind: "journal_difference" });\n    deps.log.fatal',
      "deps.log.fatal",
      "books that do not agree raise an alert",
    ],
    [
      'moneyAlerts.inc({ kind: "journal_difference" });\n    log.fatal',
      "log.fatal",
      "an adjustment that does not agree raises an alert",
    ],
    ["one.differences.length > 0", "one.differences.length > 1", "a single difference counts"],
  ]),
];
