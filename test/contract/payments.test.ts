// docs/contract.md §5: payments, full record and list; docs/contract.md §5.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { answerChallenge, cards, cardToken, payInFrame } from "../harness/pay.ts";
import { asBuyer, contractSuite } from "./caller.ts";
import { accountOf, storeDeclined } from "./operator.ts";

const { test, running, api } = contractSuite("payments", { timeoutMs: 30_000 });
/** Three payments, oldest first: 1000 EUR paid by ada, 2000 EUR declined for bob, 3000 USD paid by ada. */
const made: string[] = [];

test.before(async () => {
  made.push(
    await payment(
      { amount: 1000, currency: "EUR", reference: "order-1", customer_email: "Ada@Example.com" },
      cards.succeeds,
    ),
  );
  made.push(
    await payment(
      { amount: 2000, currency: "EUR", reference: "order-2", customer_email: "bob_%@example.com" },
      cards.declined,
    ),
  );
  made.push(
    await payment(
      { amount: 3000, currency: "USD", reference: "order-3", customer_email: "ada@example.com", metadata: { a: "b" } },
      cards.succeeds,
    ),
  );
});

async function payment(order: object, card: string): Promise<string> {
  const session = await api.call("createCheckoutSession", 201, { body: { description: "Order", ...order } });
  (await payInFrame(session.text("render.frame_url"), card)).expect(200);
  const confirmed = await api.call("confirmCheckout", 200, asBuyer(session));
  return confirmed.text("payment_id");
}

const list = (query = {}) => api.call("listPayments", 200, { query });
const ids = async (query = {}) => (await list(query)).list("data").map((item) => String(membersOf(item).id));

// Proves getPayment: response
test("docs/contract.md §5: the full record of a paid payment has every field, typed and consistent", async () => {
  const record = await api.call("getPayment", 200, { path: { id: made[2] ?? "" } });
  assert.deepEqual(
    ["amount", "refunded_amount", "currency", "status", "connector", "description", "customer_email"].map((f) =>
      record.at(f),
    ),
    [3000, 0, "USD", "succeeded", "simulator", "Order", "ada@example.com"],
  );
  assert.equal(record.number("captured_amount"), 3000);
  assert.equal(record.number("net_amount"), 3000 - record.number("fee_amount"));
  for (const field of [
    "connector_ref",
    "authorization_code",
    "receipt_url",
    "authorized_at",
    "captured_at",
    "created_at",
  ]) {
    assert.ok(record.text(field), field);
  }
  assert.deepEqual([record.text("card.last4"), record.text("card.brand")], ["4242", "visa"]);
  const { last4, brand, funding } = membersOf(record.at("card"));
  assert.deepEqual(record.at("payment_method"), { type: "card", card: { brand, last4, funding } });
  assert.ok(record.number("card.exp_year") > 2025 && record.number("card.exp_month") === 12);
  assert.ok(record.text("card.fingerprint") && record.text("card.funding"));
  assert.equal(typeof record.number("verification.risk_score"), "number");
  assert.ok(record.text("verification.cvc_check"));
  assert.deepEqual(record.at("refunds"), []);
  assert.deepEqual(record.at("metadata"), { a: "b" });
  assert.equal(record.at("dispute"), undefined);
  assert.equal(record.at("failed_at"), undefined);
});

test("docs/contract.md §5: a failed payment has failed_at and no captured_at", async () => {
  const record = await api.call("getPayment", 200, { path: { id: made[1] ?? "" } });
  assert.equal(record.text("status"), "failed");
  assert.ok(record.text("failed_at"));
  assert.equal(record.at("captured_at"), undefined);
});

// Proves listPayments: response
test("docs/contract.md §8: the list item carries only its fields, card only brand, last4 and funding", async () => {
  const [newest] = (await list()).list("data").map(Object);
  assert.deepEqual(Object.keys(newest).sort(), [
    ...["amount", "captured_amount", "card", "connector", "created_at", "currency", "customer_email"],
    ...["fee_amount", "id", "payment_method", "refunded_amount", "status"],
  ]);
  assert.deepEqual(Object.keys(newest.card).sort(), ["brand", "funding", "last4"]);
});

// Proves listPayments: offset, response; limits: offset
test("docs/contract.md §5: newest first, exact total, next_cursor is the next offset and 0 at the end", async () => {
  assert.deepEqual(await ids(), made.toReversed());
  const first = await list({ limit: 2 });
  assert.deepEqual([first.list("data").length, first.at("total"), first.at("next_cursor")], [2, 3, 2]);
  const rest = await list({ limit: 2, offset: 2 });
  assert.deepEqual([rest.list("data").length, rest.at("total"), rest.at("next_cursor")], [1, 3, 0]);
  const beyond = await list({ offset: 1_000_000 });
  assert.deepEqual(beyond.body, { data: [], total: 3, next_cursor: 0, has_more: false });
  assert.deepEqual(await ids(), await ids());
});

// Proves listPayments: limit, offset; limits: limit, offset
test("docs/contract.md §1: a page has 50 payments when nothing is asked and 200 at most, from the first on", async () => {
  const many = await freshMerchant(running);
  await storeDeclined(running, many.id, 201);
  const page = async (query = {}) => {
    const answer = await api.call("listPayments", 200, { as: many.apiKey, query });
    const found = answer.list("data").map((item) => String(membersOf(item).id));
    return { found, total: answer.at("total"), next: answer.at("next_cursor") };
  };
  const [usual, largest] = [await page(), await page({ limit: 200, offset: 0 })];
  assert.deepEqual([usual.found.length, usual.total, usual.next], [50, 201, 50]);
  assert.deepEqual([largest.found.length, largest.total, largest.next], [200, 201, 200]);
  assert.deepEqual(largest.found.slice(0, 50), usual.found);
});

// Proves listPayments: status, from, to, q, amounts, reference, currency, connector, captured
test("docs/contract.md §5: every filter narrows the list, alone and together", async () => {
  const [ada, bob, adaUsd] = made;
  const cases: [Record<string, string | number>, (string | undefined)[]][] = [
    [{ status: "succeeded" }, [adaUsd, ada]],
    [{ status: "failed" }, [bob]],
    [{ status: "Succeeded" }, []],
    [{ min_amount: 2000 }, [adaUsd, bob]],
    [{ max_amount: 2000 }, [bob, ada]],
    [{ min_amount: 2000, max_amount: 2000 }, [bob]],
    [{ min_amount: -5 }, [adaUsd, bob, ada]],
    [{ min_amount: "9223372036854775807" }, []],
    [{ max_amount: "-9223372036854775808" }, []],
    [{ q: "ADA@example" }, [adaUsd, ada]],
    [{ q: "bob_%" }, [bob]],
    [{ q: "_%" }, [bob]],
    [{ q: "4242" }, [adaUsd, ada]],
    [{ q: "0002" }, [bob]],
    [{ q: ada ?? "" }, [ada]],
    [{ q: ` ${ada?.toUpperCase()}\n` }, [ada]],
    [{ q: "\u200border-1 " }, [ada]],
    [{ q: (ada ?? "").slice(0, 29) }, [ada]],
    [{ q: "nothing" }, []],
    [{ q: "ada", status: "succeeded", max_amount: 1000 }, [ada]],
    [{ q: "order-" }, [adaUsd, bob, ada]],
    [{ q: "order-2" }, [bob]],
    [{ q: "Order-2" }, [bob]],
    [{ reference: "order-3" }, [adaUsd]],
    [{ reference: "order-" }, []],
    [{ currency: "usd" }, [adaUsd]],
    [{ currency: "EUR", max_amount: 1000 }, [ada]],
    [{ currency: "EUR", status: "succeeded", q: "ada" }, [ada]],
    [{ currency: "JPY" }, []],
    [{ connector: "simulator" }, [adaUsd, bob, ada]],
    [{ connector: "stripe" }, []],
    [{ captured_from: new Date().toISOString().slice(0, 10), captured_to: "2999-01-01" }, [adaUsd, ada]],
    [{ captured_from: "2020-01-01T00:00:00Z", currency: "EUR" }, [ada]],
    [{ captured_to: "2020-01-01" }, []],
    [{ to: "2020-01-01" }, []],
    [{ from: new Date().toISOString().slice(0, 10) }, [adaUsd, bob, ada]],
    [{ from: "2020-01-01T00:00:00+02:00", to: "2999-01-01" }, [adaUsd, bob, ada]],
  ];
  for (const [query, wanted] of cases) {
    const answer = await list(query);
    const got = answer.list("data").map((item) => membersOf(item).id);
    assert.deepEqual(got, wanted, JSON.stringify(query));
    assert.equal(answer.at("total"), wanted.length, JSON.stringify(query));
  }
});

// Proves listPayments: from, to
test("docs/contract.md §5: from and to include their moments", async () => {
  const at = String(membersOf((await list({ limit: 1 })).list("data")[0]).created_at);
  assert.ok((await ids({ from: at })).includes(made[2] ?? ""));
  assert.ok(
    (await ids({ to: at.replace("Z", "999999Z").replace(/\.(\d{3})999999Z/, ".$1999999Z") })).includes(made[2] ?? ""),
  );
});

// Proves listPayments: after
test("docs/contract.md §5: pages behind the last id repeat and miss nothing, whatever is created between them", async () => {
  const own = await freshMerchant(running);
  const as = own.apiKey;
  const order = {
    amount: 500,
    currency: "EUR",
    payment_method: await cardToken(running.processor, await accountOf(own)),
  };
  const pay = async () => (await api.call("createPayment", 201, { as, body: order })).text("id");
  const paid = [await pay(), await pay(), await pay()].reverse();
  const page = (query: object) => api.call("listPayments", 200, { as, query: { limit: 2, ...query } });
  const first = await page({});
  assert.deepEqual([first.at("has_more"), first.at("next_cursor")], [true, 2]);
  await pay();
  const second = await page({ after: paid[1] ?? "" });
  assert.deepEqual([second.at("data.0.id"), second.list("data").length], [paid[2], 1]);
  assert.deepEqual([second.at("has_more"), second.at("next_cursor"), second.at("total")], [false, 0, 4]);
  assert.deepEqual((await page({ after: paid[2] ?? "" })).list("data"), []);
  for (const [field, query] of [
    ["after", { after: "pay_1" }],
    ["after", { after: made[0] ?? "" }],
    ["offset", { after: paid[0] ?? "", offset: 1 }],
  ] as const) {
    const answer = await api.refused("listPayments", 400, "invalid_body", { as, query });
    assert.equal(answer.at("error.details.0.field"), field);
  }
});

// Proves listPayments: limit; errors: invalid_body
test("docs/contract.md §2: bad query parameters are invalid_body, named", async () => {
  const wrong: [string, Record<string, string | number>][] = [
    ["limit", { limit: 201 }],
    ["limit", { limit: 0 }],
    ["limit", { limit: "1e1" }],
    ["offset", { offset: -1 }],
    ["offset", { offset: "" }],
    ["from", { from: "yesterday" }],
    ["to", { to: "2025-02-30" }],
    ["from", { from: "2025-02-02", to: "2025-02-01" }],
    ["min_amount", { min_amount: 5, max_amount: 4 }],
    ["min_amount", { min_amount: "9223372036854775808" }],
    ["q", { q: "x".repeat(255) }],
    ["status", { status: "x".repeat(33) }],
    ["reference", { reference: "x".repeat(101) }],
    ["currency", { currency: "EURO" }],
    ["currency", { currency: "XXX" }],
    ["connector", { connector: "x".repeat(65) }],
    ["captured_from", { captured_from: "yesterday" }],
    ["captured_from", { captured_from: "2025-02-02", captured_to: "2025-02-01" }],
    ["captured_to", { captured_to: "2025-02-30" }],
    ["stauts", { stauts: "succeeded" }],
  ];
  for (const [field, query] of wrong) {
    const answer = await api.refused("listPayments", 400, "invalid_body", { query });
    assert.equal(answer.at("error.details.0.field"), field, JSON.stringify(query));
  }
  const meant = await api.refused("listPayments", 400, "invalid_body", { query: { stauts: "failed", limit: 0 } });
  assert.deepEqual(
    new Set(meant.list("error.details").map((detail) => JSON.stringify(detail))),
    new Set([
      JSON.stringify({ field: "limit", problem: "must be at least 1" }),
      JSON.stringify({ field: "stauts", problem: "is unknown; did you mean status?" }),
    ]),
  );
  for (const name of ["expand", "__proto__"])
    await api.refused("getPayment", 400, "invalid_body", { path: { id: made[0] ?? "" }, query: { [name]: "refunds" } });
});

// Proves getPayment: errors; errors: not_found
test("docs/contract.md §3: payments of another merchant and unknown ids are not_found, all alike, and malformed ids are never repeated", async () => {
  const stranger = await freshMerchant(running);
  const refused = async (id: string, as?: string) =>
    (await api.refused("getPayment", 404, "not_found", { path: { id }, ...(as !== undefined && { as }) })).raw;
  const [own = "", unknown] = [made[0], "pay_01jd3v9q6k8m2n4p6r8t0v2x4z"];
  assert.equal((await refused(own, stranger.apiKey)).replace(own, unknown), await refused(unknown));
  const malformed = new Set<string>();
  for (const id of ["pay_", "cs_01jd3v9q6k8m2n4p6r8t0v2x4z", "..%2f"]) malformed.add(await refused(id));
  assert.equal(malformed.size, 1);
  assert.equal((await api.call("listPayments", 200, { as: stranger.apiKey })).number("total"), 0);
});

// Proves getPayment: failure, attempts
test("docs/contract.md §5: a payment has its last attempt's failure code from the catalogue, until another one is paid", async () => {
  const order = { amount: 900, currency: "EUR" };
  const session = await api.call("createCheckoutSession", 201, { body: order });
  const paymentId = session.text("id").replace("cs_", "pay_");
  const read = () => api.call("getPayment", 200, { path: { id: paymentId } });
  const tries = [
    [cards.declined, "card_declined", "use_another_card"],
    ["4000000000009995", "insufficient_funds", "use_another_card"],
    ["4000000000000127", "incorrect_cvc", "retry_later"],
    ["4100000000000019", "blocked", "do_not_retry"],
  ] as const;
  for (const [i, [card, code, advice]] of tries.entries()) {
    await payInFrame(session.text("render.frame_url"), card);
    await api.call("confirmCheckout", 200, asBuyer(session));
    const failed = await eventually("the attempt to be known", async () => {
      const record = await read();
      return record.list("attempts").length > i && record;
    });
    assert.deepEqual([failed.at("failure.code"), failed.at("failure.advice")], [code, advice]);
    assert.ok(failed.text("failure.message"));
  }
  const challenge = (await payInFrame(session.text("render.frame_url"), cards.needsChallenge)).text("challenge_url");
  await api.call("confirmCheckout", 200, asBuyer(session));
  assert.equal((await read()).at("failure"), undefined, "another attempt is under way");
  await answerChallenge(challenge, "fail");
  await api.call("confirmCheckout", 200, asBuyer(session));
  assert.equal((await read()).at("failure.code"), "authentication_failed");
  await payInFrame(session.text("render.frame_url"));
  await api.call("confirmCheckout", 200, asBuyer(session));
  const paid = await read();
  assert.equal(paid.at("failure"), undefined);
  const attempts = paid.list("attempts").map(membersOf);
  assert.deepEqual(
    attempts.map(({ outcome, failure_code, payment_method: method }) => {
      const { type, card } = membersOf(method);
      return [type, outcome, failure_code, membersOf(card).last4];
    }),
    [
      ...tries.map(([card, code]) => ["card", "failed", code, card.slice(-4)]),
      ["card", "failed", "authentication_failed", cards.needsChallenge.slice(-4)],
      ["card", "succeeded", undefined, "4242"],
    ],
  );
  assert.deepEqual(attempts.map(({ three_ds_result }) => three_ds_result).slice(-2), ["failed", undefined]);
  const times = attempts.map(({ created_at }) => String(created_at));
  assert.deepEqual(times, times.toSorted());
  assert.equal(new Set(attempts.map(({ id }) => id)).size, attempts.length);
});

// Proves getPayment: evidence
test("docs/contract.md §5: a payment lists its dispute and is disputed", async () => {
  const id = await payment({ amount: 700, currency: "EUR" }, cards.disputedLater);
  const record = await eventually("the dispute to be opened", async () => {
    const answer = await api.call("getPayment", 200, { path: { id } });
    return answer.at("status") === "disputed" && answer;
  });
  assert.match(record.text("dispute.id"), /^dp_/);
  assert.deepEqual([record.number("dispute.amount"), record.text("dispute.status")], [700, "needs_response"]);
  for (const field of ["connector_dispute_id", "reason", "opened_at"]) assert.ok(record.text(`dispute.${field}`));
  assert.ok(record.text("dispute.evidence_due_at") > record.text("dispute.opened_at"));
  assert.equal(record.at("dispute.outcome"), undefined);
});

test("every described code of these operations was seen", () => api.sawEverything([], "listPayments", "getPayment"));

test.run();
