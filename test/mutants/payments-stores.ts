// Mutants of the SQL of payments: locks, conditions that hold a change to what was read, counters, schedules, and what
// is written together.
import { type Mutant, mutantsOf } from "./mutant.ts";

export const paymentsStores: readonly Mutant[] = [
  ...mutantsOf("services/payments/store/journal.ts", [
    [
      "j.kind = m.kind and j.cause = m.cause),\n",
      "j.kind = m.kind and j.cause = m.cause and false),\n",
      "a movement that happens again to the same cause is booked again",
    ],
    [
      "m.debit, m.credit, m.amount, m.captured_at\n",
      "m.credit, m.debit, m.amount, m.captured_at\n",
      "each movement debits and credits its own accounts",
    ],
    [
      "as e (event_id text, subject text, body bytea))\n     insert into journal",
      "as e (event_id text, subject text, body bytea) limit 0)\n     insert into journal",
      "a change is announced in its own transaction",
    ],
    [
      "select currency, credit, -amount from journal",
      "select currency, credit, amount from journal",
      "balances are debits minus credits",
    ],
  ]),
  ...mutantsOf("services/payments/store/refunds/refund-reservations.ts", [
    [
      "set refunded_amount = p.refunded_amount + w.amount",
      "set refunded_amount = p.refunded_amount + 0 * w.amount",
      "a reserved amount is taken from what can be refunded",
    ],
    [" and p.version = w.version\n", "\n", "a refund judged before its payment changed is judged again"],
    [
      "const { debit, credit } = postings.refund_reserved;",
      "const { debit: credit, credit: debit } = postings.refund_reserved;",
      "a reservation debits the merchant",
    ],
    [
      "select e.* from taken, jsonb",
      "select e.* from (select * from taken limit 0) as taken, jsonb",
      "a new refund is announced with it",
    ],
    ["taken.has(operation.id)", "true", "a reservation that did not hold is not taken for one that did"],
  ]),
  ...mutantsOf("services/payments/store/refunds/refunds.ts", [
    [
      "connector_ref = coalesce(r.connector_ref, s.connector_ref)",
      "connector_ref = coalesce(s.connector_ref, r.connector_ref)",
      "a refund keeps the processor's id that it has",
    ],
    [
      "where s.ends and o.kind = 'create_refund'",
      "where not s.ends and o.kind = 'create_refund'",
      "the operation of a refund ends with it, and not before",
    ],
  ]),
  ...mutantsOf("services/payments/store/disputes/disputes.ts", [
    [
      "do update set status = excluded.status, ",
      "do update set status = disputes.status, ",
      "a dispute that moved is stored as moved",
    ],
  ]),
  ...mutantsOf("services/payments/store/operations.ts", [
    [
      "generation = $2 and not_found_since is not null returning",
      "generation = $2 returning",
      "a key that another run sends again is not replaced",
    ],
    [
      "where id = $1 and generation = $2 returning id`",
      "where id = $1 and generation > 0 + 0 * $2 returning id`",
      "nothing is sent under a key that another run has replaced",
    ],
    [
      "tries end, next_try_at = now()\n     where id = $1`",
      "tries end, next_try_at = now()\n     where id = $1 and state = 'started'`",
      "a look that is too long for one call goes on where it ended, also when the operation is over",
    ],
    ["operation.generation}`;", "Math.random()}`;", "the same order goes to the processor under the same key"],
    [
      "untouched from operations where id = $1 for update`",
      "untouched from operations where id = $1`",
      "who gives a try up holds the operation meanwhile",
    ],
    [
      "select tries = 0 and state = 'started' as untouched",
      "select state = 'started' as untouched",
      "a try of another worker is never given up by the first one",
    ],
    [
      "state = 'started' and next_try_at <= now()\n",
      "next_try_at <= now()\n",
      "what is done or parked is not tried again",
    ],
    [
      "order by next_try_at limit $2 for update skip locked)",
      "order by next_try_at limit $2)",
      "two workers never claim the same operation",
    ],
    [
      "case when o.tries >= cardinality($1::float8[]) then 'parked'",
      "case when o.tries > 1000000 + cardinality($1::float8[]) then 'parked'",
      "what nobody can decide is parked for an operator",
    ],
    [
      "where state = 'parked')\n",
      "where state = 'started' and false)\n",
      "the history of an operation tells that it was parked",
    ],
    [
      "set tries = greatest(tries - 1, 1), next_try_at",
      "set tries = greatest(tries - 1, 0), next_try_at",
      "an operation that was taken over never looks untouched again",
    ],
    [
      "set tries = greatest(tries, 1) where kind = $1 and reference = $2`",
      "set tries = tries where kind = $1 and reference = $2`",
      "who takes an operation over leaves a trace",
    ],
    [
      "set state = 'done', sealed_order = null where kind = $1 and reference = $2 and state <> 'done'`",
      "set state = state, sealed_order = null where kind = $1 and reference = $2 and state <> 'done'`",
      "an operation that has come to its end is closed",
    ],
  ]),
  ...mutantsOf("services/payments/store/operator-queue.ts", [
    [
      "where id = $1 and state = 'parked' returning id`",
      "where id = $1 returning id`",
      "an operator moves only what is parked",
    ],
    [
      " where o.state = 'parked' and o.id > $1",
      " where o.state = 'parked' and o.id >= $1",
      "pages of parked operations do not repeat one",
    ],
    [
      "count(*) as n from operations where state = 'parked'`",
      "count(*) as n from operations where state = 'done'`",
      "operators are told how much is parked",
    ],
  ]),
  ...mutantsOf("services/payments/store/payment-checks.ts", [
    [
      "where next_check_at <= now() order by",
      "where next_check_at <= now() + interval '1 hour' order by",
      "a payment is asked about when it is due",
    ],
    ["limit $2 for update skip locked)", "limit $2)", "two workers do not ask about the same payment"],
    ["where id = $1 and next_check_at is not null`", "where id = $1`", "a payment that is settled stays off the list"],
  ]),
  ...mutantsOf("services/payments/store/new-payments.ts", [
    [
      "set connector_ref = coalesce(p.connector_ref, m.ref), render = m.render",
      "set connector_ref = coalesce(m.ref, p.connector_ref), render = m.render",
      "a payment keeps its first intent",
    ],
    [
      "on conflict do nothing returning id)\n     insert into operations",
      "on conflict (id) do update set visible = payments.visible returning id)\n     insert into operations",
      "one payment has one operation that makes its intent",
    ],
  ]),
  ...mutantsOf("services/payments/store/payments.ts", [
    ["order by p.id for update of p`", "order by p.id`", "only one transaction moves a payment at a time"],
    [
      "and connector_ref is null and outcome = 'pending' returning id`",
      "and outcome = 'pending' returning id`",
      "a payment that a processor has heard of never changes its account",
    ],
    [
      "where id = $1 and connector_account_id = $2 and",
      "where id = $1 and $2::text is not null and",
      "a payment changes its account once",
    ],
    [
      "fee_amount = s.fee_amount,",
      "fee_amount = p.fee_amount + 0 * s.fee_amount,",
      "the fee is stored with the payment",
    ],
    [
      "announced_by_confirm = s.announced_by_confirm",
      "announced_by_confirm = (s.announced_by_confirm and false)",
      "the confirm path announces a success once",
    ],
    [
      "announced_by_processor = s.announced_by_processor",
      "announced_by_processor = (s.announced_by_processor and false)",
      "the processor's path announces a success once",
    ],
    [
      "finished_attempts = s.finished_attempts",
      "finished_attempts = s.finished_attempts[:0]",
      "a declined attempt counts once",
    ],
  ]),
  ...mutantsOf("services/payments/store/processor/processor-events.ts", [
    [
      "fresh.delete(JSON.stringify([connector, id]))",
      "[connector, id].length > 0 && fresh.size >= 0",
      "an event that was recorded before is known",
    ],
  ]),
  ...mutantsOf("services/payments/store/payment-records.ts", [
    [
      "t.environment = w.environment and t.visible\n",
      "t.environment = w.environment\n",
      "a payment is seen from its first attempt on",
    ],
    [
      "JSON.stringify([merchantId, environment, id])",
      "JSON.stringify([merchantId, id])",
      "a test key does not see live payments",
    ],
  ]),
  ...mutantsOf("services/payments/store/fee-schedules.ts", [
    ["and f.effective_from <= ", "and f.effective_from > ", "a schedule counts from its beginning"],
    [
      "f.connector = '*', f.effective_from desc`",
      "f.connector = '*', f.effective_from`",
      "the latest schedule that has begun counts",
    ],
    [
      "scheduleOrder = `f.merchant_id = '*', f.currency = '*'",
      "scheduleOrder = `f.merchant_id <> '*', f.currency = '*'",
      "a merchant's own schedule comes before everybody's",
    ],
    ["where begins >= now() returning *`", "returning *`", "no schedule begins in the past"],
    ["using found where not found.begun and", "using found where", "what has begun is never changed"],
  ]),
  ...mutantsOf("services/payments/store/processor/statements.ts", [
    [
      "any($3::text[]) and p.connector_account_id = $1\n     union all\n     select 'refund'",
      "any($3::text[])\n     union all\n     select 'refund'",
      "a line is compared with ours of the same account",
    ],
    [
      "captured_at >= $2 and captured_at < $3",
      "captured_at > $3 and captured_at < $2",
      "what we captured is looked for in the statement",
    ],
    ["id > $5", "id >= $5", "pages of captured payments end"],
    [
      "set last_found_at = now(), resolved_at = null,",
      "set last_found_at = now(),",
      "a difference that comes back is open again",
    ],
    [
      "ref = any($2::text[]) and resolved_at is null returning id`",
      "ref = any($2::text[]) and resolved_at is not null returning id`",
      "a difference that is gone is resolved",
    ],
    [
      "order by due_at limit 1 for update skip locked)",
      "order by due_at limit 1)",
      "two workers do not match the same account",
    ],
    [
      "where due_at <= now() order by due_at limit 1",
      "where true order by due_at limit 1",
      "an account is matched when it is due",
    ],
    [
      "and line.status <> 'canceled' and line.status <> 'pending'`",
      "and line.status <> 'canceled'`",
      "a refund that is under way is not missed in a statement",
    ],
  ]),
  ...mutantsOf("services/payments/store/journal-check.ts", [
    ["where due_at <= now() returning after_id`", "returning after_id`", "replicas share one pass of the check"],
  ]),
  ...mutantsOf("services/payments/audit/read-books.ts", [
    [
      "where p.id > $1 order by p.id limit $2`",
      "where p.id > $1 order by p.id desc limit $2`",
      "the check of the books passes over every payment",
    ],
    [
      "and a.outcome = 'succeeded') as paid_attempts",
      "and a.outcome <> '') as paid_attempts",
      "a capture by an attempt that failed is a difference",
    ],
    [
      'rateAt("least(j.captured_at, j.created_at)")',
      'rateAt("j.created_at")',
      "the auditor knows the fee of the capture's own time",
    ],
    ["and t.currency = $", "and p.currency = $", "the auditor calls an item of another currency right"],
  ]),
];
