// A walk of buyers, merchants, banks and Adyen's mishaps, by a seed: whatever is lost, doubled, late or refused, our
// books equal Adyen's at the end, and each order was done once. `ADYEN_WALK=800 SEED=7 npm test -- adyen-walk`.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { connectPeer } from "#platform/rpc/client.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { untilAnswered } from "../chaos/persistent-client.ts";
import { Random } from "../chaos/random.ts";
import { adyenCredentials, storedCredentials } from "../connectors/adyen-rig.ts";
import type { AdyenAccount, Payment } from "../harness/adyen/adyen-account.ts";
import { type AdyenFault, FakeAdyen } from "../harness/adyen/fake-adyen.ts";
import { type Answer, apiClient } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { startTestStack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";

const stories = Number(process.env.ADYEN_WALK ?? 120);
const seed = Number(process.env.SEED ?? 1);
const atOnce = 6;
// The pause after an operation's third try is 120 s here (jobs/reconcile.ts).
const settleMsMax = 180_000;
const limitMs = settleMsMax + 60_000 + stories * 1_500;
const test = suite(`a walk at Adyen of ${stories} stories, seed ${seed}`, {
  timeoutMs: limitMs,
  hookTimeoutMs: 120_000,
});
const faults: readonly (readonly [AdyenFault, number])[] = [
  ["500-after", 2],
  ["500-before", 2],
  ["silent-after", 2],
  ["silent-before", 1],
  ["704", 2],
  ["703", 1],
];
const faultShare = 0.2;
let fake: FakeAdyen;
let adyen: AdyenAccount;
let running: RunningStack;
let merchant: TestMerchant;
let books: pg.Client;
let connectorId = "";

test.before(async () => {
  fake = await new FakeAdyen().start();
  const { merchant_account: name, webhook_password: webhookPassword } = storedCredentials;
  adyen = fake.account(name, { ...adyenCredentials, webhookPassword });
  const env = { ADYEN_API_URL: fake.url, PROCESSOR_TIMEOUT_SECONDS: "1", RECONCILE_AFTER_SECONDS: "1" };
  running = await startTestStack({ shape: "one", env });
  merchant = await freshMerchant(running.stack);
  const peer = connectPeer({ url: running.stack.rpc.payments, token: running.stack.rpc_token });
  const owner = { merchantId: merchant.id, environment: Environment.SANDBOX };
  const added = { ...owner, connector: "adyen", credentials: storedCredentials, makeDefault: true };
  connectorId = (await peer.client(ConnectorAccountService).addConnectorAccount(added)).connector?.id ?? "";
  peer.close();
  const url = new URL(running.stack.database);
  url.pathname += "_payments";
  books = new pg.Client({ connectionString: url.href });
  await books.connect();
});
test.after(async () => {
  await books.end();
  await running.stop();
  await fake.stop();
});

const unanswered: string[] = [];

/** Asks until there is a final answer. */
async function until(what: string, ask: () => Promise<Answer>): Promise<Answer | undefined> {
  const patience = { limitMs: 30_000, pauseMs: 200, onGiveUp: (last: string) => void unanswered.push(last) };
  return await untilAnswered(ask, patience, what);
}

function disturb(random: Random, path: RegExp): void {
  if (random.chance(faultShare)) fake.failNext(path, random.pick(faults));
}

/** Delivers what waits: shuffled, doubled, or not yet. */
async function post(random: Random): Promise<void> {
  const hook = `${running.stack.gateway}/processors/adyen/${adyen.name}`;
  await adyen.send(hook, { shuffle: random.chance(0.5), double: random.chance(0.3), rounds: 1 });
}

async function play(random: Random, name: string): Promise<void> {
  const isManual = random.chance(0.4);
  const amount = random.int(1, 50_000);
  const order = {
    amount,
    currency: random.pick([
      ["EUR", 3],
      ["JPY", 1],
      ["ISK", 1],
    ]),
    success_url: "https://shop.example/",
  };
  const held = isManual ? { capture_method: "manual" } : {};
  disturb(random, /(?:paymentLinks|sessions)$/);
  const key = { "idempotency-key": `${name}-create` };
  const session = await until("creating", () => merchant.api.post("/v1/checkout-sessions", { ...order, ...held }, key));
  if (!session) return;
  session.expect(201);
  const { redirect_url: address, options = "{}" } = membersOf(session.at("render"));
  const link =
    String(address ?? JSON.parse(String(options)).session)
      .split("/")
      .at(-1) ?? "";
  const id = session.text("id").replace("cs_", "pay_");
  const secret = `secret=${session.text("session_secret")}`;
  const confirm = () => apiClient(running.stack.gateway).post(`/v1/checkout/${session.text("id")}/confirm?${secret}`);
  const psp = buy(random, link);
  if (random.chance(0.7)) await until("confirming", confirm);
  if (random.chance(0.5)) await post(random);
  if (random.chance(0.15))
    await until("expiring", () => merchant.api.post(`/v1/checkout-sessions/${session.text("id")}/expire`));
  if (psp === undefined) return;
  const isVisible = async () => {
    await post(random);
    return (await merchant.api.get(`/v1/payments/${id}`)).status === 200;
  };
  await eventually("the payment", isVisible, { everyMs: 200 });
  if (isManual) await end(random, id, amount, name);
  for (let i = random.int(0, 3); i > 0; i--) await refund(random, id, amount, `${name}-${i}`);
  await bank(random, psp);
}

/** The second half of the stories pays on Adyen's page. */
async function sendToLinks(): Promise<void> {
  const path = `/v1/merchants/me/connectors/${connectorId}`;
  (await merchant.api.patch(path, { selected_surface: "redirect" })).expect(200);
}

/** The buyer's tries on the page. @returns the try that paid; undefined: none did */
function buy(random: Random, link: string): string | undefined {
  for (let i = random.int(0, 2); i > 0; i--)
    adyen.pay(link, {
      refused: random.pick([
        ["Refused", 1],
        ["CVC Declined", 1],
      ]),
    });
  if (random.chance(0.15)) return undefined;
  const psp = adyen.pay(link);
  if (random.chance(0.1)) adyen.pay(link, { refused: "Refused", isLate: true });
  if (random.chance(0.08)) adyen.pay(link, { isLate: true });
  return psp;
}

async function end(random: Random, id: string, amount: number, name: string): Promise<void> {
  const part = random.chance(0.5) ? { amount: random.int(1, amount) } : {};
  const key = { "idempotency-key": `${name}-end` };
  const isCapture = random.chance(0.7);
  disturb(random, isCapture ? /captures$/ : /cancels$/);
  const path = `/v1/payments/${id}/${isCapture ? "capture" : "cancel"}`;
  await until("ending", () => merchant.api.post(path, isCapture ? part : {}, key));
}

async function refund(random: Random, id: string, amount: number, name: string): Promise<void> {
  disturb(random, /refunds$/);
  const key = { "idempotency-key": `${name}-refund` };
  await until("refunding", () =>
    merchant.api.post(`/v1/payments/${id}/refunds`, { amount: random.int(1, amount) }, key),
  );
  if (random.chance(0.6)) adyen.settle({ success: random.chance(0.8) });
  if (random.chance(0.6)) await post(random);
}

/** Disputes, and captures that fail later. */
async function bank(random: Random, psp: string): Promise<void> {
  const payment = adyen.payments.get(psp);
  if (!payment?.captured) return;
  if (random.chance(0.15)) {
    const dispute = adyen.dispute(
      psp,
      random.pick([
        ["NOTIFICATION_OF_CHARGEBACK", 2],
        ["REQUEST_FOR_INFORMATION", 1],
      ]),
    );
    if (random.chance(0.5))
      adyen.later(
        random.pick([
          ["CHARGEBACK_REVERSED", 1],
          ["SECOND_CHARGEBACK", 1],
        ]),
        dispute,
      );
  }
  if (payment.refunded === 0 && random.chance(0.05)) adyen.later("CAPTURE_FAILED", psp);
}

interface OurBooks {
  readonly id: string;
  readonly captured: number;
  readonly refunded: number;
  readonly second: number;
}

async function ourBooks(): Promise<Map<string, OurBooks>> {
  const { rows } = await books.query<OurBooks>(
    `select p.id, p.captured_amount::int as captured, p.refunded_amount::int as refunded,
       (select coalesce(sum(s.amount - case when exists (select from processor_notices n
            where n.kind = 'CAPTURE_FAILED' and n.original_ref = s.connector_ref) then s.returned_amount else 0 end), 0)::int
          from suspense s where s.payment_id = p.id and s.kind = 'second_charge') as second
     from payments p where p.merchant_id = $1`,
    [merchant.id],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Adyen's payments under our id in ISO minor units: the first is ours, the others are second charges. */
function theirBooks(): Map<string, readonly Payment[]> {
  const paid = [...adyen.payments.values()].filter(({ isAuthorised }) => isAuthorised);
  return Map.groupBy(paid, ({ reference }) => reference.split("/")[0] ?? "");
}

const minor = (value: number | undefined, { amount }: Payment) => (value ?? 0) / (amount.currency === "ISK" ? 100 : 1);

async function differences(): Promise<string[]> {
  const [ours, theirs] = [await ourBooks(), theirBooks()];
  const lines = [...ours.values()].map(({ id, captured, refunded, second }) => {
    const all = theirs.get(id) ?? [];
    const sum = (pick: (one: Payment) => number | undefined) =>
      all.reduce((total, one) => total + minor(pick(one), one), 0);
    const [theirCaptured, theirRefunded] = [sum((one) => one.captured), sum((one) => one.refunded)];
    const isSame = captured + second === theirCaptured && refunded === theirRefunded;
    return isSame ? "" : `${id}: ${captured}+${second} −${refunded}, at Adyen ${theirCaptured} −${theirRefunded}`;
  });
  const unknown = [...theirs.keys()].filter((id) => !ours.has(id)).map((id) => `${id}: only at Adyen`);
  return [...lines.filter((line) => line !== ""), ...unknown];
}

/** Our connector's notices about the payments that differ, and the operations that are not done. */
async function evidence(differing: readonly string[]): Promise<string> {
  const ids = differing.map((line) => line.split(":")[0]);
  const { rows: notices } = await books.query(
    "select * from processor_notices where reference like any (select x || '%' from unnest($1::text[]) x) order by 1",
    [ids],
  );
  const { rows: open } = await books.query(
    "select * from operations where state <> 'done' and kind <> 'create_intent'",
  );
  return [...notices, ...open].map((row) => JSON.stringify(row)).join("\n");
}

test("our books equal Adyen's, nothing is in doubt, and each order was made once", async () => {
  const random = new Random(seed);
  const names = Array.from({ length: stories }, (_, i) => `s${i}`);
  const seeds = names.map(() => random.int(1, 1e9));
  const work = async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      if (names.length === Math.floor(stories / 2)) await sendToLinks();
      await play(new Random(seeds[names.length] ?? 1), name);
    }
  };
  const over = new AbortController();
  const sending = (async () => {
    for (const drawn = new Random(seed); !over.signal.aborted; await pause(300)) await post(drawn);
  })();
  await Promise.all(Array.from({ length: atOnce }, work));
  over.abort();
  await sending;
  assert.deepEqual(unanswered, []);
  const doubts = async () => {
    const { rows } = await books.query<{ n: number }>(
      "select count(*)::int as n from operations where state <> 'done' and kind <> 'create_intent'",
    );
    return rows[0]?.n ?? 0;
  };
  let last: string[] = ["not compared"];
  await eventually(
    "equal books",
    async () => {
      adyen.settle();
      await post(new Random(1));
      last = await differences();
      return last.length === 0 && adyen.queue.length === 0 && (await doubts()) === 0;
    },
    { limitMs: settleMsMax, everyMs: 500 },
  ).catch(async (error: unknown) => assert.fail(`${error}\n${last.join("\n")}\n${await evidence(last)}`));
  const made = fake.requests.filter(
    ({ path, key }) => key !== undefined && /refunds$|captures$|paymentLinks$|sessions$/.test(path),
  );
  const byReference = Map.groupBy(made, ({ path, body }) => `${path} ${JSON.stringify(body)}`);
  const several = [...byReference.values()].filter((calls) => new Set(calls.map(({ key }) => key)).size > 1);
  assert.deepEqual(
    several.map(([call]) => call?.path),
    [],
    "sent again only under its key",
  );
});

test.run();
