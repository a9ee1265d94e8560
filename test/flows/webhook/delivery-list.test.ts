// Long lists of an endpoint's deliveries: a far page costs as much as the first, with every filter.
import assert from "node:assert/strict";
import type { Sql } from "#platform/database/database.ts";
import { newId } from "#platform/values/id.ts";
import { type DeliveryState, listDeliveries } from "../../../services/webhook/store/deliveries.ts";
import { dayMs, firstDeliveryIdOf } from "../../../services/webhook/store/partitions.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { startWebhookTest } from "./service.ts";

const test = suite("webhook delivery list", { timeoutMs: 60_000 });
let own: { merchantId: string; environment: 1; endpointId: string };

const states = ["pending", "delivered", "failed"] as const;
const types = ["payment.succeeded", "payment.refunded", "test.ping"] as const;

interface Row {
  readonly id: string;
  readonly state: DeliveryState;
  readonly eventType: string;
}

const t = fixture(test, () => startWebhookTest());
test.beforeEach(async () => {
  const owner = { merchantId: newId("merchant"), environment: 1 as const };
  const input = { ...owner, url: "https://no-such-host.invalid/hook", eventTypes: ["payment.succeeded"] };
  own = { ...owner, endpointId: (await t.webhooks.createEndpoint(input)).endpoint?.id ?? "" };
});

test("a far page reads no more blocks than the first, under each filter", async () => {
  const rows = await store(30_000);
  for (const state of [undefined, ...states]) {
    for (const eventType of [undefined, ...types]) {
      const before = rows.at(-3_000)?.id;
      const [first, deep] = [await blocksOf(state, eventType, undefined), await blocksOf(state, eventType, before)];
      assert(deep <= first + 10, `${state} ${eventType}: ${first} blocks, far page ${deep}`);
      assert(deep < 800, `${state} ${eventType}: ${deep} blocks`);
    }
  }
});

/** Stores deliveries of three days in both tables, with alternating states and types. @returns them, newest first */
async function store(count: number): Promise<Row[]> {
  const rows: Row[] = [];
  const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
  for (let i = 0; i < count; i++) {
    const moment = todayMs - Math.floor((3 * i) / count) * dayMs;
    const id = firstDeliveryIdOf(moment) + (count - i).toString().padStart(16, "0");
    rows.push({ id, state: states[(i + 1) % 3] ?? "failed", eventType: types[Math.floor(i / 3) % 3] ?? "" });
  }
  const rowSource = `from unnest($3::text[], $4::text[], $5::text[]) as row (id, state, type)`;
  const params = [own.merchantId, own.endpointId];
  const lists = [rows.map(({ id }) => id), rows.map(({ state }) => state), rows.map(({ eventType }) => eventType)];
  await t.db.rows(
    `insert into deliveries (merchant_id, endpoint_id, id, event_type, body, attempts, generation, state, status_code, last_error, created_at)
     select $1, $2, id, type, '{}', 1, 0, state, 500, 'http_500', now() ${rowSource} where state <> 'pending'`,
    [...params, ...lists],
  );
  await t.db.rows(
    `insert into delivery_queue (merchant_id, endpoint_id, id, event_type, body, due_at)
     select $1, $2, id, type, '{}', now() + interval '1 hour' ${rowSource} where state = 'pending'`,
    [...params, ...lists],
  );
  return rows;
}

interface Plan {
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
}

/** Blocks that a full page reads. */
async function blocksOf(
  state: DeliveryState | undefined,
  eventType: string | undefined,
  before: string | undefined,
): Promise<number> {
  let blocks = 0;
  const rows: Sql["rows"] = async (text, params) => {
    const [row] = await t.db.rows<{ "QUERY PLAN": { Plan: Plan }[] }>(
      `explain (analyze, buffers, format json) ${text}`,
      params,
    );
    const plan = row?.["QUERY PLAN"][0]?.Plan;
    assert(plan);
    blocks = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
    return [];
  };
  await listDeliveries({ rows }, { ...own, state, eventType, before, limit: 201 });
  return blocks;
}

test.run();
