// Each test card of docs/contract.md §11, paid as by the form.
import * as assert from "uvu/assert";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { startRig } from "./service.ts";

const test = suite("simulator-cards");

const rig = fixture(test, () => startRig());

interface PayBody {
  readonly status: string;
  readonly failure_code?: string;
  readonly challenge_url?: string;
}

const pay = (id: string, card: string) => rig.call<PayBody>("POST", `/test/intents/${id}/pay`, { card });
const read = async (id: string) => (await rig.call("GET", `/api/intents/${id}`)).body;

test("4242… succeeds: captured, authorized, verified, with a receipt", async () => {
  const { id } = await rig.intent();
  assert.equal((await pay(id, "4242424242424242")).body, { status: "succeeded" });
  const intent = await read(id);
  const [attempt] = intent.attempts;
  assert.equal([intent.status, intent.captured_amount], ["succeeded", 1_050]);
  assert.match(attempt?.authorization_code ?? "", /^\d{6}$/);
  assert.equal([attempt?.card?.brand, attempt?.card?.last4], ["visa", "4242"]);
  assert.equal([attempt?.verification?.cvc_check, attempt?.verification?.risk_level], ["pass", "normal"]);
  const receipt = await fetch(intent.receipt_url ?? "");
  assert.is(receipt.status, 200);
  assert.match(await receipt.text(), /€10\.50.*4242/s);
});

const declines = {
  "4000000000000002": "card_declined",
  "4000000000009995": "insufficient_funds",
  "4000000000000069": "expired_card",
  "4000000000000127": "incorrect_cvc",
  "4000000000000119": "processing_error",
  "4100000000000019": "blocked_high_risk",
  "5555555555554444": "card_declined", // any other number
};
for (const [card, code] of Object.entries(declines)) {
  test(`${card} is declined with ${code}, and the intent can be paid with another card`, async () => {
    const { id } = await rig.intent();
    const { body } = await pay(id, card);
    assert.equal([body.status, body.failure_code], ["failed", code]);
    const intent = await read(id);
    assert.equal([intent.status, intent.attempts[0]?.status], ["requires_payment_method", "failed"]);
    assert.is(intent.attempts[0]?.verification?.risk_level, code === "blocked_high_risk" ? "highest" : "normal");
    assert.is((await pay(id, "4242424242424242")).body.status, "succeeded");
    assert.equal(
      (await read(id)).attempts.map(({ status }) => status),
      ["failed", "succeeded"],
    );
  });
}

const answerChallenge = (url: string | undefined, outcome: string, token?: string) => {
  const { pathname, hash } = new URL(url ?? "");
  return rig.call<PayBody>("POST", pathname, { token: token ?? hash.slice(1), outcome });
};

test("…3155 requires 3-D Secure, and a passed challenge succeeds once as authenticated", async () => {
  const { id } = await rig.intent();
  const { body } = await pay(id, "4000002500003155");
  assert.is(body.status, "requires_action");
  assert.is((await read(id)).status, "requires_action");
  assert.is((await answerChallenge(body.challenge_url, "pass", "wrong")).status, 404);
  assert.is((await answerChallenge(body.challenge_url, "pass")).body.status, "succeeded");
  assert.is((await answerChallenge(body.challenge_url, "fail")).body.status, "succeeded");
  const { verification } = (await read(id)).attempts[0] ?? {};
  assert.equal([verification?.three_ds_result, verification?.three_ds_version], ["authenticated", "2.2.0"]);
});

test("…3155 with a failed challenge is authentication_failed, and the intent stays payable", async () => {
  const { id } = await rig.intent();
  const { body } = await pay(id, "4000002500003155");
  const answer = await answerChallenge(body.challenge_url, "fail");
  assert.equal([answer.body.status, answer.body.failure_code], ["failed", "authentication_failed"]);
  assert.is((await read(id)).status, "requires_payment_method");
});

test("…1629 is declined after a passed challenge", async () => {
  const { id } = await rig.intent();
  const { body } = await pay(id, "4000008400001629");
  const answer = await answerChallenge(body.challenge_url, "pass");
  assert.equal([answer.body.status, answer.body.failure_code], ["failed", "card_declined"]);
  assert.is((await read(id)).attempts[0]?.verification?.three_ds_result, "authenticated");
});

test("…6009 answers after six seconds", async () => {
  const { id } = await rig.intent();
  const begin = performance.now();
  assert.is((await pay(id, "4000000000006009")).body.status, "succeeded");
  assert.ok(performance.now() - begin > 5_900);
});

test("…6108 is processing and then settles by itself", async () => {
  const { id } = await rig.intent();
  assert.equal((await pay(id, "4000000000006108")).body, { status: "processing" });
  assert.equal((await pay(id, "4242424242424242")).body, { status: "processing" }); // no second attempt
  await eventually("the settlement", async () => (await read(id)).status === "succeeded");
  assert.is((await read(id)).attempts.length, 1);
});

test("…6207 is an outage: paying and reading the intent are 503, other intents are not", async () => {
  const { id, reference } = await rig.intent();
  assert.is((await pay(id, "4000000000006207")).status, 503);
  const answers = [
    await rig.call("GET", `/api/intents/${id}`),
    await rig.call("GET", `/api/intents?reference=${reference}`),
    await rig.call("POST", `/api/intents/${id}/cancel`),
    await pay(id, "4242424242424242"),
  ];
  assert.equal(
    answers.map(({ status }) => status),
    [503, 503, 503, 503],
  );
  assert.is((await rig.paidIntent()).status, "succeeded");
});

test("…6306 is paid, but the form gets a lost connection", async () => {
  const { id } = await rig.intent();
  assert.equal((await pay(id, "4000000000006306")).body, { status: "lost" });
  assert.is((await read(id)).status, "succeeded");
});

const enter = (number: string, account = "acct_test") =>
  rig.call<{ id: string; card: object }>("POST", "/payment-methods", {
    account,
    number,
    exp_month: 12,
    exp_year: 2040,
    cvc: "123",
  });
const payByToken = async (token: string, key = token) => {
  const order = { amount: 1_050, currency: "EUR", reference: `token_${key}`, payment_method: token };
  return await rig.call("POST", "/api/intents", order, { "idempotency-key": key });
};

test("a card makes a token, and a token one paid intent for each idempotency key", async () => {
  const { status, body: token } = await enter("4242424242424242");
  assert.is(status, 201);
  assert.equal(token.card, { brand: "visa", last4: "4242", funding: "credit", exp_month: 12, exp_year: 2040 });
  const paid = await payByToken(token.id);
  assert.equal([paid.status, paid.body.status, paid.body.captured_amount], [201, "succeeded", 1_050]);
  assert.equal((await payByToken(token.id)).body, paid.body);
  const { receiver } = rig;
  await eventually("the event", () => receiver.received.some(({ data }) => data.intent.id === paid.body.id));
  assert.is((await payByToken(token.id, "another")).body.status, "succeeded");
});

test("a token of a 3-D Secure card is declined, and one of an asynchronous card settles later", async () => {
  const challenged = await payByToken((await enter("4000002500003155")).body.id);
  assert.is(challenged.body.attempts[0]?.failure_code, "authentication_required");
  const later = await payByToken((await enter("4000000000006108")).body.id);
  assert.is(later.body.status, "processing");
  await eventually("the settlement", async () => (await read(later.body.id)).status === "succeeded");
});

test("an unknown or foreign token and an outage make no intent; an invalid card makes no token", async () => {
  const foreign = (await enter("4242424242424242", "acct_other")).body.id;
  for (const token of ["pm_unknown", foreign]) assert.is((await payByToken(token)).status, 400);
  assert.is((await payByToken((await enter("4000000000006207")).body.id, "outage")).status, 503);
  for (const reference of [`token_${foreign}`, "token_outage"]) {
    const found = await rig.call<{ data: unknown[] }>("GET", `/api/intents?reference=${reference}`);
    assert.equal(found.body.data, []);
  }
  assert.is((await enter("4242424242424241")).status, 400);
  assert.is((await fetch(`${rig.url}/payment-methods`, { method: "OPTIONS" })).status, 204);
});

test("neither the card number nor the CVC is anywhere in the database", async () => {
  const { id, client_secret } = await rig.intent();
  const card = { client_secret, number: "4000000000000077", exp_month: 12, exp_year: 2040, cvc: "987" };
  await rig.call("POST", `/form/${id}/pay`, card);
  await rig.call("POST", "/payment-methods", { ...card, account: "acct_test" });
  const { default: pg } = await import("pg");
  const client = new pg.Client(rig.databaseUrl);
  await client.connect();
  const tables = ["intents", "attempts", "events", "idempotency_keys", "operations", "payment_methods"];
  for (const table of tables) {
    const { rows } = await client.query(
      `select count(*)::int as hits from ${table} t where t::text like '%400000000000%'`,
    );
    assert.equal(rows, [{ hits: 0 }], table);
  }
  await client.end();
  const same = await rig.paidIntent("4242424242424242");
  const again = await rig.paidIntent("4242424242424242");
  assert.is(same.attempts[0]?.card?.fingerprint, again.attempts[0]?.card?.fingerprint);
});

test.run();
