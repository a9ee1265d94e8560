// Mutants of the connectors: what an answer proves, keys, amounts, signatures, and the circuit around them.
import { type Mutant, mutantsOf } from "./mutant.ts";

export const connectors: readonly Mutant[] = [
  ...mutantsOf("services/payments/connectors/circuit.ts", [
    ["duration: Number.NEGATIVE_INFINITY,", "duration: pauseMs,", "a circuit's pause follows no clock that can step"],
    [
      '(answer) => answer.kind === "unknown" || answer.kind === "not_sent", "not_sent")',
      '(answer) => answer.kind === "declined", "not_sent")',
      "a circuit opens when the processor does not answer",
    ],
    [
      'answer.kind === "not_sent", "not_sent")',
      'answer.kind === "not_sent", "unknown")',
      "what an open circuit refused was surely not sent",
    ],
    [
      'if (isTaskCancelledError(cause)) return { kind: "unknown", cause };',
      'if (isTaskCancelledError(cause)) return { kind: "not_sent", cause };',
      "a call that took too long may have happened",
    ],
    [
      "if (policy.state === CircuitState.HalfOpen) return refuse();",
      "",
      "one call probes, and the others are not held up by it",
    ],
  ]),
  ...mutantsOf("services/payments/connectors/http.ts", [
    ['neverSent(error) ? "unsent" : "silent"', '"unsent"', "a broken connection proves nothing"],
    [
      '"ECONNREFUSED",',
      '"ECONNREFUSED",\n  "ECONNRESET",\n  "UND_ERR_SOCKET",',
      "a reset after the first byte proves nothing",
    ],
    [
      "const timer = setTimeout(late, options.timeoutMs ?? this.#totalTimeoutMs);",
      "const timer = setTimeout(late, 2 ** 30);",
      "a processor that is silent is not waited for",
    ],
  ]),
  ...mutantsOf("services/payments/connectors/simulator/answers.ts", [
    [
      "if (status < 400 || status >= 500 || undecided.has(status)) return",
      "if (status < 400 || undecided.has(status)) return",
      "a 5xx is never a refusal",
    ],
    ["new Set([408, 409, 425, 429])", "new Set([408, 409, 425])", "too many requests is no refusal"],
    [
      'if (answer.kind === "silent") return { kind: "unknown", cause: answer.cause };',
      'if (answer.kind === "silent") return { kind: "not_sent", cause: answer.cause };',
      "silence is unknown",
    ],
    [
      'answer.status === 404 && errorCode(answer.body) === "resource_missing"',
      'errorCode(answer.body) !== "never"',
      "only a 404 says that there is nothing",
    ],
    ['&& errorCode(answer.body) === "resource_missing"', "", "the 404 of an edge says nothing"],
    ['if (code === "" ||', "if (", "a refusal that is not in the processor's own words says nothing"],
    ['new Set(["idempotency_key_reused"])', "new Set([])", "a key that was used for another order may have made it"],
    [
      'if (list.kind !== "succeeded") return { kind: "unknown", cause: "cause" in list ? list.cause : list };',
      'if (list.kind !== "succeeded") return { kind: "not_found", at: new Date(), cause: undefined };',
      "a search without an answer proves nothing",
    ],
    [
      'return answer.kind === "succeeded" && answer.value.status === "pending" ? { ...answer, kind: "pending" } : answer;',
      "return answer;",
      "a refund that is not decided is pending",
    ],
    [
      'if (status === 401 || status === 403) return { kind: "not_sent", cause };',
      'if (status === 401 || status === 403) return { kind: "unknown", cause };',
      "what our credentials were refused for was not done",
    ],
  ]),
  ...mutantsOf("services/payments/connectors/simulator/simulator.ts", [
    [
      'headers: { ...authOf(account), "idempotency-key": key }, json',
      'headers: { ...authOf(account), "idempotency-key": randomUUID() }, json',
      "the processor is given our idempotency key",
    ],
    ["!sameSecret(wanted, v1) ||", "", "an event is believed only with its source's signature"],
    ["age > signatureToleranceSeconds", "age < 0", "an old event is a replay"],
  ]),
  ...mutantsOf("services/payments/connectors/simulator/objects.ts", [
    [
      'if (event.account !== externalAccountId) throw new Error("another account\'s event");',
      "",
      "an event of another account is refused",
    ],
    [
      "capturedAmount: BigInt(intent.captured_amount),",
      "capturedAmount: BigInt(intent.amount),",
      "what was captured is what the processor says",
    ],
    [
      'facts.push({ kind: "intent_canceled"',
      'facts.unshift({ kind: "intent_canceled"',
      "facts come in the order in which they happened",
    ],
    ['reference: refund.reference ?? "",', 'reference: "",', "a refund is known by our reference"],
    ['status: type === "intent" ? "" : status,', "status,", "a payment's line is compared by what was captured"],
  ]),
  ...mutantsOf("services/payments/connectors/stripe/amount.ts", [
    ["return Number(amount * 100n);", "return Number(amount);", "krónur are written with two decimals"],
    [
      "return amount % 10n === 0n ? Number(amount) :",
      "return amount % 10n !== 1n ? Number(amount) :",
      "an amount that Stripe cannot take is refused by us",
    ],
    ["return written * 100n;", "return written;", "Stripe's whole ariary are read as minor units"],
    [
      "exponent === undefined || exponent > 2",
      "exponent === undefined",
      "a currency that Stripe does not take is refused",
    ],
  ]),
  ...mutantsOf("services/payments/connectors/stripe/client.ts", [
    ["&& errorTypes.has(error.type)", "", "an error in an edge's own words is no refusal"],
    [
      "if (isStripes(answer.status, answer.body))",
      "if (answer.status > 0)",
      "what is no object of Stripe's proves nothing",
    ],
    [' && error.code === "resource_missing";', ";", "an edge's 404 is no proof"],
    ["statusCode >= 400 && statusCode < 500;", "statusCode >= 400;", "a 5xx is never a refusal"],
    ["statusCode >= 400 && statusCode < 500;", "statusCode < 500;", "an error that came with 200 is no refusal"],
    ["new Set([408, 409, 425, 429])", "new Set([408, 409, 425])", "too many requests is no refusal"],
    ['code === "lock_timeout" || code === "idempotency_key_in_use"', "false", "a key that is in use says nothing yet"],
    [
      'if (rawType === "idempotency_error") return { kind: "unknown", cause };',
      'if (rawType === "idempotency_error") return { kind: "not_sent", cause };',
      "a key that was used for another order may have made it",
    ],
    [
      "error.detail instanceof CallFailed && !error.detail.sent",
      "error.detail instanceof CallFailed",
      "what was sent and not answered may have happened",
    ],
    ["maxNetworkRetries: 0,", "maxNetworkRetries: 2,", "a call is made once"],
    ["error.statusCode === 404", "error.statusCode !== undefined", "only a 404 says that there is nothing"],
  ]),
  ...mutantsOf("services/payments/connectors/stripe/event.ts", [
    [
      "event.type === tryFailed && isWithoutCharge",
      "isWithoutCharge",
      "an event that only repeats a failure does not wait for a list that never shows it",
    ],
    [
      "return sdk.webhooks.constructEvent(body, header, secret, toleranceSeconds, undefined, clockMs());",
      'return JSON.parse(Buffer.from(body).toString("utf8"));',
      "an event is believed only with its source's signature",
    ],
    ["header, secret, toleranceSeconds,", "header, secret, 10 * 365 * 86_400,", "an old event is a replay"],
    [
      "event.livemode !== (account.environment === Environment.LIVE)",
      "event.livemode === undefined",
      "an event of the other environment is refused",
    ],
    [
      "metadata?.[metadataNames.payment] === undefined;",
      "metadata === undefined;",
      "what is not ours is asked for only where it is known",
    ],
  ]),
  ...mutantsOf("services/payments/connectors/stripe/attempts.ts", [
    [
      "a.at - b.at || a.place - b.place",
      "b.at - a.at || b.place - a.place",
      "attempts come in the order in which they happened",
    ],
    ["a.at - b.at || a.place - b.place", "a.at - b.at", "the event list orders the tries of one second"],
    [
      "charge.captured ? fromStripe(charge.amount_captured,",
      "charge.captured ? fromStripe(charge.amount,",
      "what was captured is what the processor says",
    ],
    ["returned ? dateOf(returned.created) : at", "at", "a debit that was returned failed when it was returned"],
    ["(told.length > 0 ? told : shown)", "shown", "every try that failed without a charge counts"],
  ]),
  ...mutantsOf("services/payments/connectors/stripe/search.ts", [
    ["page.data.findLast((made)", "page.data.find((made)", "the oldest intent under our reference is ours"],
    ["seconds(since) - marginSeconds", "seconds(since) + marginSeconds", "a search begins before the first try"],
    [
      'return list === "sessions" && this.found === undefined ?',
      'return list === "intents" && this.found === undefined ?',
      "nothing is missing before both lists were read",
    ],
    ["this.at ??= dateMs(", "this.at = dateMs(", "absence is dated by the first page"],
    [
      "if (reading.cursor === undefined) {",
      "if (reading.cursor === undefined || reading.pages > 0) {",
      "a search that is not at its end proves nothing",
    ],
  ]),
  ...mutantsOf("services/payments/connectors/stripe/objects.ts", [
    [
      "isOther ? { amount: charge.amount_captured, currency: charge.currency } : dispute",
      "dispute",
      "a dispute in another currency is about all that was captured",
    ],
    [
      'refundStatuses[refund.status ?? ""] ?? "pending"',
      'refundStatuses[refund.status ?? ""] ?? "failed"',
      "a refund that waits for its buyer has not failed",
    ],
    [
      'appeal_under_review: "lost",',
      'appeal_under_review: "under_review",',
      "a dispute stays lost until its appeal is decided",
    ],
    ['prevented: "warning_closed",', 'prevented: "under_review",', "a dispute that was prevented holds no money"],
  ]),
  ...mutantsOf("services/payments/connectors/stripe/orders.ts", [
    [
      "metadata: { [metadataNames.refund]: order.reference },",
      "metadata: {},",
      "a refund at the processor carries our reference",
    ],
    [
      "payment_intent: intentId,\n    amount,",
      "payment_intent: intentId,",
      "a refund is of the amount that was asked for",
    ],
    ["confirm: true,", "confirm: false,", "a payment by token is paid at once"],
    ["adaptive_pricing: { enabled: false },", "", "what is paid is what was asked for, in its currency"],
  ]),
  ...mutantsOf("services/payments/connectors/stripe/stripe.ts", [
    [
      "const call = { ...keyOf(account), idempotencyKey: key };\n      if (order.surface",
      "const call = keyOf(account);\n      if (order.surface",
      "the processor is given our idempotency key for an intent",
    ],
    [
      "const call = { ...keyOf(account), idempotencyKey: key };\n      const made = sdk.paymentIntents.create(paymentParams",
      "const call = keyOf(account);\n      const made = sdk.paymentIntents.create(paymentParams",
      "the processor is given our idempotency key for a payment by token",
    ],
    [
      "...keyOf(account),\n        idempotencyKey: key,",
      "...keyOf(account),",
      "the processor is given our idempotency key for a refund",
    ],
    [
      "const found = refunds.value.map(readRefund).findLast((refund) => refund.reference === reference);",
      "const found = refunds.value.map(readRefund).at(-1);",
      "a refund is found by our reference",
    ],
    [
      ".findLast((refund) => refund.reference === reference)",
      ".find((refund) => refund.reference === reference)",
      "the oldest refund under our reference is ours",
    ],
    [
      'if (refunds.kind !== "succeeded") return inDoubt(refunds);',
      'if (refunds.kind !== "succeeded") return { kind: "not_found", at: time(), cause: undefined };',
      "a question without an answer proves nothing",
    ],
  ]),
  ...mutantsOf("services/payments/connectors/stripe/statement.ts", [
    [
      'charge.status === "succeeded" ? charge.amount_captured : 0',
      "charge.amount_captured",
      "a charge that failed takes nothing in the statement",
    ],
    ['next: page.has_more ? (page.data.at(-1)?.id ?? "") : ""', 'next: ""', "a statement is read to its last page"],
    [
      ".filter(({ charge }) => intentOf(charge) !== undefined &&",
      '.filter(({ charge, object }) => object === "payment" && intentOf(charge) !== undefined &&',
      "a statement has refunds and disputes too",
    ],
    [
      "return charge.metadata[metadataNames.payment] !== undefined;",
      "return true;",
      "what others take on the account is passed over",
    ],
  ]),
];
