// What a soak runs on: a stack with fsync on, several merchants with a receiver, and orders at a rate that does not
// wait for answers.
import type { ChildProcess } from "node:child_process";
import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { checkBooks } from "../../deploy/cli/health/journal.ts";
import { databaseUrlOf } from "../../deploy/local/databases.ts";
import { startStack } from "../../deploy/local/start.ts";
import { api } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { pay } from "../harness/pay.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { watchMachine } from "./machine.ts";
import type { Minute } from "./soak-table.ts";
import { residentMb } from "./usage.ts";
import { startChild } from "./webhook-rig.ts";

export interface SoakRig {
  /** Finds the rate at which everything together takes this share of the machine. @returns orders a second */
  findRate(share: number, say: (line: string) => void, signal: AbortSignal): Promise<number>;
  /** Orders for a minute, and what it came to. @throws the first failed request: a soak of failures proves nothing */
  minute(perSecond: number, signal: AbortSignal): Promise<Minute>;
  /** What is wrong with the books, and of what merchants were not told. Ends the load first. */
  differences(): Promise<string[]>;
  stop(): Promise<void>;
}

const merchants = 4;
const services = ["gateway", "checkout", "payments", "merchant", "webhook"] as const;
const databases = ["checkout", "payments", "merchant", "webhook"] as const;
const eventTypes = ["payment.succeeded", "payment.refunded"];
// Beyond it the rate is more than the machine can do, and the load waits instead of piling up.
const underWayMax = 200;
const stepSeconds = 10;
const steps = 12;
const firstRate = 5;
const refundEvery = 4;
const listEvery = 4;
const toldMsMax = 120_000;

export async function startSoakRig(): Promise<SoakRig> {
  const stateDir = await tempDir("soak");
  const env = { RATE_LIMIT: "off", LOG_LEVEL: "warn" };
  const running = await startStack({ port: 0, stateDir, quiet: true, durable: true, env });
  const { stack } = running;
  const children: ChildProcess[] = [];
  const receiver = await startChild(
    "test/bench/webhook-receiver.ts",
    { TLS_CERT: stack.tls.cert, TLS_KEY: stack.tls.key },
    children,
  );
  const shops = await Promise.all(Array.from({ length: merchants }, () => freshMerchant(stack)));
  for (const shop of shops) {
    const endpoint = { url: `https://localhost:${receiver.ready.port}/ok`, event_types: eventTypes };
    (await shop.api.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
  }
  const orders = new Orders(stack.gateway, shops);
  const asked = await Promise.all(databases.map((name) => connected(databaseUrlOf(stack.database, name))));
  const empty = await bytesNow(asked);
  return {
    async findRate(share, say, signal) {
      const rates: number[] = [];
      let rate = firstRate;
      for (let step = 1; step <= steps && !signal.aborted; step++) {
        const busy = watchMachine();
        await orders.drive(rate, stepSeconds, signal);
        const taken = busy();
        say(`  finding the load: ${rate.toFixed(1)} orders a second take ${Math.round(taken * 100)} %`);
        rate *= Math.min(1.6, Math.max(0.6, share / Math.max(taken, 0.01)));
        rates.push(rate);
      }
      const last = rates.slice(-4);
      return last.reduce((sum, each) => sum + each, 0) / Math.max(1, last.length);
    },
    async minute(perSecond, signal) {
      const busy = watchMachine();
      const done = await orders.drive(perSecond, 60, signal);
      return { ...done, busy: busy(), ...processesNow(stack.pids), ...(await databasesNow(asked, empty)) };
    },
    async differences() {
      await orders.idle();
      const wrong: string[] = [];
      const url = databaseUrlOf(stack.database, "payments");
      const checked = await checkBooks({ DATABASE_URL: url }, ({ about, differences }) =>
        wrong.push(...differences.map((difference) => `${about}: ${difference}`)),
      );
      if (checked < orders.paid) wrong.push(`${orders.paid} orders were paid, ${checked} payments are in the books`);
      const webhook = asked[databases.indexOf("webhook")];
      const told = await eventually("merchants to be told of every payment", () => allTold(webhook, orders.paid), {
        limitMs: toldMsMax,
        everyMs: 1_000,
      }).catch((error: Error) => error.message);
      return told === true ? wrong : [...wrong, told];
    },
    async stop() {
      await orders.idle().catch(() => {});
      await Promise.all(asked.map((client) => client.end()));
      for (const child of children) child.disconnect();
      await running.stop();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}

type Times = Record<string, number[]>;

/** Orders at a rate, whatever the answers' speed. */
class Orders {
  readonly #gateway: string;
  readonly #shops: readonly TestMerchant[];
  readonly #underWay = new Set<Promise<void>>();
  #times: Times = {};
  #failure: unknown;
  #made = 0;
  paid = 0;

  constructor(gateway: string, shops: readonly TestMerchant[]) {
    this.#gateway = gateway;
    this.#shops = shops;
  }

  async drive(perSecond: number, seconds: number, signal: AbortSignal): Promise<Pick<Minute, "orders" | "latencies">> {
    this.#times = {};
    const [began, paidBefore] = [performance.now(), this.paid];
    for (let i = 0; i < perSecond * seconds && !signal.aborted; i++) {
      const waitMs = began + (i * 1_000) / perSecond - performance.now();
      if (waitMs > 1) await pause(waitMs);
      while (this.#underWay.size >= underWayMax) await Promise.race(this.#underWay);
      if (this.#failure) throw this.#failure;
      if (performance.now() - began > seconds * 1_000) break;
      this.#begin();
    }
    const latencies = Object.fromEntries(
      Object.entries(this.#times)
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([name, times]) => [name, quantiles(times)]),
    );
    return { orders: this.paid - paidBefore, latencies };
  }

  async idle(): Promise<void> {
    await Promise.all(this.#underWay);
    if (this.#failure) throw this.#failure;
  }

  #begin(): void {
    const number = this.#made++;
    const order = this.#order(number).catch((error: unknown) => {
      this.#failure ??= error;
    });
    this.#underWay.add(order);
    void order.finally(() => this.#underWay.delete(order));
  }

  async #order(number: number): Promise<void> {
    const merchant = this.#shops[number % this.#shops.length]?.api;
    if (!merchant) throw new Error("there is no merchant");
    const body = { amount: 1_000 + (number % 500), currency: "EUR", customer_email: `buyer${number}@example.com` };
    const key = { "idempotency-key": `soak-${number}` };
    const session = await this.#timed("create", () => merchant.post("/v1/checkout-sessions", body, key), 201);
    const path = `/v1/checkout/${session.text("id")}`;
    const secret = `secret=${encodeURIComponent(session.text("session_secret"))}`;
    const buyer = api(this.#gateway);
    await this.#timed("open", () => buyer.get(`${path}?${secret}`), 200);
    (await pay(session.text("render.frame_url"))).expect(200);
    const confirmed = await this.#timed("confirm", () => buyer.post(`${path}/confirm?${secret}`), 200);
    const payment = `/v1/payments/${confirmed.text("payment_id")}`;
    this.paid += 1;
    await this.#timed("read", () => merchant.get(payment), 200);
    if (number % refundEvery === 0)
      await this.#timed("refund", () => merchant.post(`${payment}/refunds`, { amount: 100 }), 201);
    if (number % listEvery === 1) await this.#timed("list", () => merchant.get("/v1/payments?limit=20"), 200);
  }

  async #timed<A extends { expect(status: number): A }>(
    name: string,
    call: () => Promise<A>,
    status: number,
  ): Promise<A> {
    const began = performance.now();
    const answer = (await call()).expect(status);
    this.#times[name] ??= [];
    this.#times[name].push(performance.now() - began);
    return answer;
  }
}

function quantiles(times: readonly number[]): { p50Ms: number; p99Ms: number } {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

function processesNow(pids: Readonly<Record<string, number>>): Pick<Minute, "megabytes" | "handles"> {
  const each = (read: (pid: number) => number) =>
    Object.fromEntries(services.map((name) => [name, read(pids[name] ?? 0)]));
  return {
    megabytes: { ...each(residentMb), nats: residentMb(pids.nats ?? 0) },
    handles: each((pid) => readdirSync(`/proc/${pid}/fd`).length),
  };
}

async function databasesNow(
  clients: readonly pg.Client[],
  emptyBytes: number,
): Promise<Pick<Minute, "connections" | "deadRows" | "bytesPerPayment" | "waiting">> {
  const of = (name: (typeof databases)[number], statement: string) =>
    numberOf(clients[databases.indexOf(name)], statement);
  const dead = await sumOf(clients, "select coalesce(sum(n_dead_tup), 0) as n from pg_stat_user_tables");
  const live = await sumOf(clients, "select coalesce(sum(n_live_tup), 0) as n from pg_stat_user_tables");
  const events = await sumOf(clients, "select count(*) as n from outbox where published_at is null");
  const payments = await of("payments", "select count(*) as n from payments");
  return {
    connections: await of(
      "payments",
      "select count(*) as n from pg_stat_activity where application_name like 'tollbooth-%'",
    ),
    deadRows: (100 * dead) / Math.max(1, live + dead),
    bytesPerPayment: ((await bytesNow(clients)) - emptyBytes) / Math.max(1, payments),
    waiting: events + (await of("webhook", "select count(*) as n from delivery_queue")),
  };
}

function bytesNow(clients: readonly pg.Client[]): Promise<number> {
  return sumOf(clients, "select pg_database_size(current_database()) as n");
}

async function sumOf(clients: readonly pg.Client[], statement: string): Promise<number> {
  const each = await Promise.all(clients.map((client) => numberOf(client, statement)));
  return each.reduce((total, n) => total + n, 0);
}

async function numberOf(client: pg.Client | undefined, statement: string): Promise<number> {
  const { rows } = (await client?.query<{ n: string }>(statement)) ?? { rows: [] };
  return Number(rows[0]?.n ?? 0);
}

async function allTold(webhook: pg.Client | undefined, paid: number): Promise<boolean> {
  const { rows } = (await webhook?.query<{ told: string; waiting: string }>(
    `select (select count(distinct payment_id) from deliveries where event_type = 'payment.succeeded' and state = 'delivered') as told,
       (select count(*) from delivery_queue) as waiting`,
  )) ?? { rows: [] };
  return Number(rows[0]?.told) >= paid && Number(rows[0]?.waiting) === 0;
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: "soak" });
  await client.connect();
  return client;
}
