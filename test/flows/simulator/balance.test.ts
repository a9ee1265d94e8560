// The simulator's balance: movements with each change, payouts of what is available, and the faults of their lists.

import fc from "fast-check";
import pg from "pg";
import * as assert from "uvu/assert";
import type { IntentJson } from "../../../services/simulator/routes/intent-json.ts";
import { startSimulator } from "../../../services/simulator/service.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { cardThatSucceeds, type SimulatorRig, secretKey, simulatorCaller, startRig, webhookSecret } from "./service.ts";

const test = suite("simulator-balance", { timeoutMs: 60_000 });
const rig = fixture(test, () => startRig(undefined, { settlementSeconds: 0 }));
// A fixed seed, so that a failure repeats.
const fixedRuns = { seed: 4_242, numRuns: 15 };

interface Movement {
  readonly id: string;
  readonly type: string;
  readonly amount: number;
  readonly fee: number;
  readonly intent: string | null;
  readonly object: string | null;
  readonly payout: string | null;
}
interface Payout {
  readonly id: string;
  readonly amount: number;
  readonly status: string;
}
interface Balance {
  readonly available: number;
  readonly pending: number;
  readonly reserved: number;
}

let accounts = 0;

/** A new account with the calls of its owner and of the dashboard. */
function newAccount(url = rig.url, account = `acct_${++accounts}`) {
  const call = simulatorCaller(url, account);
  let references = 0;
  const listOf = async <T>(path: string, limit = 500): Promise<T[]> => {
    const all: T[] = [];
    let after = "";
    do {
      const { data, next } = (await call<{ data: T[]; next: string | null }>("GET", `${path}?limit=${limit}${after}`))
        .body;
      all.push(...data);
      after = next === null ? "" : `&after=${next}`;
    } while (after !== "");
    return all;
  };
  return {
    account,
    call,
    intent: async () => {
      const wanted = { amount: 1_050, currency: "EUR", reference: `pay_${++references}` };
      return (await call("POST", "/api/intents", wanted)).body.id;
    },
    pay: (id: string) => call("POST", `/test/intents/${id}/pay`, { card: cardThatSucceeds }),
    read: async (id: string) => (await call("GET", `/api/intents/${id}`)).body,
    move: (type: string, amount: number) => call("POST", "/test/movements", { account, type, amount, currency: "EUR" }),
    payOut: async () => (await call<{ data: Payout[] }>("POST", "/test/payouts", { account })).body.data,
    movements: (limit?: number) => listOf<Movement>("/api/movements", limit),
    payouts: (limit?: number) => listOf<Payout>("/api/payouts", limit),
    lines: (id: string, limit?: number) => listOf<Movement>(`/api/payouts/${id}/movements`, limit),
    balance: async (): Promise<Balance> => {
      const [only] = (await call<{ data: Balance[] }>("GET", "/api/balance")).body.data;
      return only ?? { available: 0, pending: 0, reserved: 0 };
    },
  };
}

type Account = ReturnType<typeof newAccount>;

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
const netOf = (movements: readonly Movement[]) => sum(movements.map(({ amount, fee }) => amount - fee));

/** The money that the processor holds for the intent, by the intent alone. */
function heldBy({ captured_amount, refunds, disputes }: IntentJson): number {
  const out = refunds.filter(({ status }) => status === "pending" || status === "succeeded");
  const withheld = disputes.filter(({ status }) => ["needs_response", "under_review", "lost"].includes(status));
  return captured_amount - sum([...out, ...withheld].map(({ amount }) => amount));
}

/** Of one moment: the job may pay out in between. */
async function readBooks(of: Account) {
  for (;;) {
    const books = { movements: await of.movements(), payouts: await of.payouts(), balance: await of.balance() };
    if ((await of.movements()).length === books.movements.length) return books;
  }
}

/** The movements, payouts and balance agree with each other and with the intents. */
async function assertBooks(of: Account, intents: readonly string[]): Promise<void> {
  const { movements, payouts, balance } = await readBooks(of);
  assert.is(netOf(movements), balance.available + balance.pending);
  const reserves = movements.filter(({ type }) => type === "reserve" || type === "release");
  assert.is(netOf(reserves), 0 - balance.reserved);
  for (const id of intents) {
    const its = movements.filter(({ intent }) => intent === id);
    assert.is(sum(its.map(({ amount }) => amount)), heldBy(await of.read(id)));
    for (const { type, amount, fee, object } of its) {
      const expected = type === "capture" ? Math.round(amount * 0.014) + 25 : type === "dispute" && object ? 1_500 : 0;
      assert.is(fee, expected, type);
    }
  }
  for (const { id, amount, status } of payouts) {
    assert.is(netOf(movements.filter(({ payout }) => payout === id)), amount);
    const own = movements.filter(({ object }) => object === id).map((moved) => [moved.type, moved.amount]);
    const back = status === "failed" || status === "returned" ? [["payout_failure", amount]] : [];
    assert.equal(own, [["payout", 0 - amount], ...back]);
  }
}

/** Steps of a history; a refused one does nothing. */
const steps = {
  pay: (of: Account, id: string) => of.pay(id),
  return: (of: Account, id: string) => of.call("POST", `/test/intents/${id}/return`, {}),
  "capture more": (of: Account, id: string) => of.call("POST", `/test/intents/${id}/capture-more`, { amount: 77 }),
  refund: (of: Account, id: string) => of.call("POST", `/test/intents/${id}/refunds`, { amount: 300 }),
  "pending refund": (of: Account, id: string) =>
    of.call("POST", `/test/intents/${id}/refunds`, { amount: 200, status: "pending" }),
  "fail refund": async (of: Account, id: string) => {
    const { refunds } = await of.read(id);
    for (const refund of refunds) await of.call("POST", `/test/refunds/${refund.id}`, { status: "failed" });
  },
  dispute: (of: Account, id: string) => of.call("POST", `/test/intents/${id}/disputes`, {}),
  inquiry: (of: Account, id: string) =>
    of.call("POST", `/test/intents/${id}/disputes`, { status: "warning_needs_response" }),
  "move disputes": async (of: Account, id: string) => {
    const next: Record<string, string> = {
      warning_needs_response: "needs_response",
      needs_response: "under_review",
      under_review: "won",
    };
    for (const { id: dispute, status } of (await of.read(id)).disputes) {
      if (next[status]) await of.call("POST", `/test/disputes/${dispute}`, { status: next[status] });
    }
  },
  reserve: (of: Account) => of.move("reserve", 40),
  release: (of: Account) => of.move("release", 10),
  "pay out": (of: Account) => of.payOut(),
  "payouts come back": async (of: Account) => {
    for (const { id, status } of await of.payouts()) {
      await of.call("POST", `/test/payouts/${id}`, { status: status === "paid" ? "returned" : "failed" });
    }
  },
};

test("the movements are the balance and what the intents hold at every moment, whatever happens in whatever order", async () => {
  // A dispute takes several steps, so they are more likely.
  const all = [...Object.values(steps), steps.dispute, steps["move disputes"], steps["move disputes"]];
  const step = fc.record({ does: fc.constantFrom(...all), which: fc.nat(1) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 14 }), async (history) => {
      const of = newAccount();
      const intents = [await of.intent(), await of.intent()];
      for (const id of intents) await of.pay(id);
      for (const { does, which } of history) {
        await does(of, intents[which] ?? "");
        await assertBooks(of, intents);
      }
    }),
    fixedRuns,
  );
});

/** Another process of the rig's processor. */
function startAnother({ databaseUrl, receiver }: SimulatorRig = rig) {
  const secrets = { secretKey, webhookSecret, webhookUrl: receiver.webhookUrl };
  return startSimulator({ port: 0, databaseUrl, ...secrets, logLevel: "fatal", delayMs: 50 });
}

test("a movement is in one payout, however many processes pay out at once", async () => {
  const of = newAccount();
  const other = await startAnother();
  try {
    const callers = [of.call, simulatorCaller(other.url, of.account)];
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 20 }, () => of.move("adjustment", 100)));
      const runs = Array.from({ length: 8 }, (_, i) =>
        callers[i % 2]?.("POST", "/test/payouts", { account: of.account }),
      );
      assert.equal([...new Set((await Promise.all(runs)).map((answer) => answer?.status))], [201]);
    }
    await assertBooks(of, []);
    assert.is(sum((await of.payouts()).map(({ amount }) => amount)), 10_000);
    assert.is((await of.balance()).available, 0);
  } finally {
    await other.stop();
  }
});

test("an installation of an earlier release gets the movements of its payments", async () => {
  const old = await startRig();
  const of = newAccount(old.url);
  const intents = [await of.intent(), await of.intent(), await of.intent()];
  for (const id of intents) await of.pay(id);
  await of.call("POST", `/test/intents/${intents[0]}/refunds`, { amount: 300, status: "pending" });
  await of.call("POST", `/test/intents/${intents[1]}/disputes`, {});
  await of.call("POST", `/test/intents/${intents[2]}/disputes`, { status: "warning_needs_response" });
  await old.stop();
  const db = new pg.Client({ connectionString: old.databaseUrl });
  await db.connect();
  await db.query("drop table movements, payouts; drop function payout_is_whole");
  await db.query("delete from schema_files where name = '0014-movements.sql'");
  await db.end();
  const upgraded = await startAnother(old);
  try {
    const after = newAccount(upgraded.url, of.account);
    await assertBooks(after, intents);
    const { movements } = await readBooks(after);
    assert.is(movements.filter(({ intent }) => intent !== null).length, 5);
  } finally {
    await upgraded.stop();
  }
});

test("a capture waits for its settlement, and nothing is paid out before it or below zero", async () => {
  const slow = await startRig();
  try {
    const of = newAccount(slow.url);
    const id = await of.intent();
    await of.pay(id);
    assert.equal(await of.balance(), { currency: "EUR", available: 0, pending: 1_010, reserved: 0 });
    await of.call("POST", `/test/intents/${id}/refunds`, { amount: 50 });
    assert.equal(await of.balance(), { currency: "EUR", available: -50, pending: 1_010, reserved: 0 });
    assert.equal(await of.payOut(), []);
  } finally {
    await slow.stop();
  }
});

test("what is available is paid out by itself, once a period, and reaches the bank; a paid payout may be returned", async () => {
  const of = newAccount();
  await of.pay(await of.intent());
  const other = await startAnother(); // looks for what is available when it starts
  try {
    await eventually("the first payout to be paid", async () => {
      const [only] = await of.payouts();
      return only?.status === "paid";
    });
    const [{ id, amount } = { id: "", amount: 0 }, ...others] = await of.payouts();
    assert.equal([amount, others.length], [1_010, 0]);
    for (const status of ["pending", "in_transit", "failed"]) {
      assert.is((await of.call("POST", `/test/payouts/${id}`, { status })).status, 400, status);
    }
    const back = { status: "returned", failure_message: "Account closed." };
    const { body } = await of.call<{ status: string; failure_message: string }>("POST", `/test/payouts/${id}`, back);
    assert.equal([body.status, body.failure_message], ["returned", "Account closed."]);
    assert.is((await of.balance()).available, 1_010);
    await assertBooks(of, []);
  } finally {
    await other.stop();
  }
});

test("lists are read in pages, each row once, also rows of one moment, and only by their account", async () => {
  const of = newAccount();
  await Promise.all(Array.from({ length: 7 }, () => of.move("adjustment", 100)));
  await of.payOut();
  const [payout] = await of.payouts();
  await of.move("adjustment", 1);
  await of.payOut();
  const lists = [of.movements, of.payouts, (limit?: number) => of.lines(payout?.id ?? "", limit)];
  for (const list of lists) assert.equal(await list(2), await list());
  assert.equal([(await of.movements()).length, (await of.payouts()).length], [10, 2]);
  const stranger = newAccount();
  assert.equal([await stranger.movements(), await stranger.payouts()], [[], []]);
  assert.is((await stranger.call("GET", `/api/payouts/${payout?.id}/movements`)).status, 404);
});

test("the fault switches fire on movements, payouts and the balance, and a stale list hides what is new", async () => {
  const of = newAccount();
  await of.move("adjustment", 100);
  await of.payOut();
  const [payout] = await of.payouts();
  const reads = {
    "api.movements.get": "/api/movements",
    "api.payouts.get": "/api/payouts",
    "api.balance.get": "/api/balance",
  };
  for (const [target, path] of Object.entries(reads)) {
    const fault = async (kind: string) => {
      await of.call("PUT", "/test/faults", { target, kind, count: 1, account: of.account });
      return await of.call<{ data: unknown[] }>("GET", path);
    };
    assert.is((await fault("error_before")).status, 500, target);
    assert.is((await fault("edge_error")).status, 503, target);
    assert.equal((await fault("stale_list")).body.data, [], target);
    assert.is((await of.call<{ data: unknown[] }>("GET", path)).body.data.length > 0, true, target);
  }
  // A payout that lists do not show yet has no movements to show, rather than a part of them.
  await of.call("PUT", "/test/faults", { target: "api.payouts.get", kind: "stale_list", count: 1 });
  assert.is((await of.call("GET", `/api/payouts/${payout?.id}/movements`)).status, 404);
});

test.run();
