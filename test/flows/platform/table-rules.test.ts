// The database refuses invalid rows by the rule's name. Tables that every request writes have their rules in a function
// (0011 of checkout, 0027 of payments); each rule is violated here.
import assert from "node:assert/strict";
import pg from "pg";
import { freshDatabase } from "../../harness/database.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("table rules");
const ulid = "01hzy3v7k8m9n0p1q2r3s4t5v6";
const owner = { merchant_id: "mer", environment: 1 };
const nothing = { line_items: "[]", amount: 100, currency: "EUR", capture_method: "automatic" };

interface Table {
  readonly service: "checkout" | "payments";
  /** A valid row. */
  readonly row: Readonly<Record<string, unknown>>;
  /** By rule: an assignment that violates it and no earlier one. */
  readonly broken: Readonly<Record<string, string>>;
}

const tables: Readonly<Record<string, Table>> = {
  sessions: {
    service: "checkout",
    row: {
      ...owner,
      ...nothing,
      id: `cs_${ulid}`,
      description: "",
      order_reference: "",
      customer_email: "",
      metadata: "{}",
      connector: "simulator",
      surface: "embedded",
      success_url: "",
      cancel_url: "",
      locale: "en",
      secret_hash: `\\x${"00".repeat(32)}`,
      render: "\\x00",
      next_check_at: "2026-01-02",
      created_at: "2026-01-01",
      expires_at: "2026-01-02",
    },
    broken: {
      sessions_id_check: "id = 'cs_1'",
      sessions_environment_check: "environment = 3",
      sessions_status_check: "status = 'paid'",
      sessions_amount_check: "amount = 0",
      sessions_currency_check: "currency = 'eur'",
      sessions_description_check: "description = repeat('x', 256)",
      sessions_order_reference_check: "order_reference = repeat('x', 101)",
      sessions_customer_email_check: "customer_email = repeat('x', 255)",
      sessions_email_turn_check: "email_turn = -1",
      sessions_capture_method_check: "capture_method = 'later'",
      sessions_surface_check: "surface = 'popup'",
      sessions_secret_hash_check: "secret_hash = '\\x00'",
      sessions_failed_attempts_check: "failed_attempts = -1",
      sessions_check: "expires_at = created_at",
      sessions_check1: "completed_at = now()",
      sessions_check2: "status = 'completed', completed_at = now(), next_check_at = null, render = null",
      sessions_check3: "next_check_at = null",
      sessions_check4: "render = null",
      sessions_line_items_fit: `line_items = '[{"name": "x", "quantity": 1, "amount": 99}]'`,
    },
  },
  payments: {
    service: "payments",
    row: {
      ...owner,
      id: `pay_${ulid}`,
      session_id: `cs_${ulid}`,
      amount: 100,
      // Set by a trigger, which does not run here.
      status: "pending",
      currency: "EUR",
      capture_method: "automatic",
      connector: "simulator",
      connector_account_id: "mco",
      surface: "embedded",
      expires_at: "2026-01-02",
    },
    broken: {
      payments_id_check: "id = 'pay_1'",
      payments_environment_check: "environment = 0",
      payments_amount_check: "amount = 100000000",
      payments_currency_check: "currency = 'EURO'",
      payments_order_reference_check: "order_reference = repeat('x', 101)",
      payments_email_turn_check: "email_turn = -1",
      payments_capture_method_check: "capture_method = 'later'",
      payments_outcome_check: "outcome = 'paid'",
      payments_check:
        "outcome = 'succeeded', authorized_at = now(), captured_at = now(), visible = true, captured_amount = 101",
      payments_check2: "outcome = 'succeeded', visible = true",
      payments_check3: "captured_amount = 100, captured_at = now()",
      payments_check4: "outcome = 'succeeded', authorized_at = now(), visible = true, captured_amount = 100",
      payments_check5: "outcome = 'processing'",
      payments_dispute_hold_check: "outcome = 'succeeded', authorized_at = now(), visible = true, dispute_hold = 'won'",
      payments_disputed_amount_check: "disputed_amount = -1",
      payments_fee_amount_check: "fee_amount = -1",
      payments_renewals_check: "renewals = -1",
      payments_refunded_within_captured: "refunded_amount = 1",
    },
  },
  operations: {
    service: "payments",
    row: { id: "op_1", kind: "create_refund", payment_id: "pay", reference: "re_1", next_try_at: "2026-01-01" },
    broken: {
      operations_id_check: "id = '1'",
      operations_kind_check: "kind = 'guess'",
      operations_state_check: "state = 'lost'",
      operations_amount_check: "amount = 0",
      operations_capture_has_amount: "kind = 'capture'",
    },
  },
  journal: {
    service: "payments",
    row: {
      ...owner,
      currency: "EUR",
      payment_id: "pay",
      kind: "captured",
      cause: "at_1",
      debit: "processor_clearing",
      credit: "merchant_balance",
      amount: 100,
    },
    broken: {
      journal_debit_check: "debit = 'pocket'",
      journal_credit_check: "credit = 'pocket'",
      journal_check: "credit = debit",
      journal_amount_check: "amount = 0",
      journal_adjustments_account: "credit = 'adjustments'",
      journal_is_of_a_payment_or_an_adjustment: "payment_id = null",
    },
  },
};

for (const [table, { service, row, broken }] of Object.entries(tables)) {
  test(`a row that violates a rule of ${table} is refused by the rule's name`, async () => {
    const client = new pg.Client((await freshDatabase(service)).url);
    await client.connect();
    // Without triggers and foreign keys, which have other tests.
    await client.query("set session_replication_role = replica");
    const names = Object.keys(row);
    const placeholders = names.map((_name, index) => `$${index + 1}`);
    await client.query(
      `insert into ${table} (${names.join(", ")}) values (${placeholders.join(", ")})`,
      names.map((name) => row[name]),
    );
    await client.query(`update ${table} set ${names[0]} = ${names[0]}`);
    for (const [rule, change] of Object.entries(broken)) {
      await assert.rejects(client.query(`update ${table} set ${change}`), { code: "23514", constraint: rule, table });
    }
    assert.deepEqual(Object.keys(broken).sort(), await rulesOf(client, table));
    await client.end();
  });
}

/** Names of the rules in the table's function. */
async function rulesOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ source: string }>(
    `select p.prosrc as source from pg_constraint c join pg_depend d on d.classid = 'pg_constraint'::regclass and d.objid = c.oid
       join pg_proc p on d.refclassid = 'pg_proc'::regclass and p.oid = d.refobjid
     where c.conrelid = $1::regclass and c.contype = 'c' and c.convalidated`,
    [table],
  );
  const [only, ...others] = rows;
  assert.deepEqual(others, [], "one function");
  return [...(only?.source ?? "").matchAll(/then '(\w+)'/g)].map(([, name]) => name ?? "").sort();
}

test.run();
