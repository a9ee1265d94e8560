// No open item is forgotten: after a run every open payment, session, refund and operation has a next check or is in
// the operators' list, and each listed item is explained by a fault of the run.
import type { FaultName } from "./fault-table.ts";
import type { MoneyRig } from "./money-rig.ts";
import type { Run } from "./story.ts";

/** Faults that explain an item of each kind in the operators' list. */
const explains: Readonly<Record<string, readonly FaultName[]>> = {
  second_charge: ["second charge", "keys forgotten"],
  other_amount: ["amounts that differ"],
  excess_capture: ["excess capture"],
  second_refund: ["second refund", "keys forgotten"],
  lost_intent: ["intent lost for good"],
};

/** Items of the operators' list. */
export async function inOperatorsList({ books }: MoneyRig): Promise<Set<string>> {
  const rows = await books.payments.rows<{ id: string }>(`select id from suspense where state <> 'closed'`);
  return new Set(rows.map(({ id }) => id));
}

/** @returns a line for each open item without a next check */
export async function unattendedItems(rig: MoneyRig, { drawn, listedBefore }: Run): Promise<string[]> {
  const { payments, checkout } = rig.books;
  const open = `select 1 from suspense s where s.payment_id = p.id and s.state <> 'closed'`;
  const openOperation = `select 1 from operations o where o.payment_id = p.id and o.state <> 'done'`;
  const forgottenPayments = await payments.rows<{ id: string; outcome: string }>(
    `select p.id, p.outcome from payments p
     where (p.outcome in ('pending', 'requires_action', 'processing') or (p.outcome = 'succeeded' and p.captured_amount = 0))
       and p.next_check_at is null
       and not exists (${open}) and not exists (${openOperation})`,
  );
  const forgottenRefunds = await payments.rows<{ id: string; payment_id: string }>(
    `select r.id, r.payment_id from refunds r join payments p on p.id = r.payment_id
     where r.status = 'pending' and p.next_check_at is null and not exists (${open}) and not exists (${openOperation})`,
  );
  const forgottenOperations = await payments.rows<{ id: string; kind: string; last_error: string }>(
    `select id, kind, last_error from operations where state = 'parked' or (state = 'started' and next_try_at is null)`,
  );
  const forgottenSessions = await checkout.rows<{ id: string; status: string }>(
    `select id, status from sessions where status in ('open', 'processing') and next_check_at is null`,
  );
  const suspended = await payments.rows<{ id: string; kind: string; payment_id: string }>(
    `select id, kind, payment_id from suspense where state <> 'closed'`,
  );
  const isExplained = (kind: string) => (explains[kind] ?? []).some((name) => drawn.countOf(name) > 0);
  const unexplained = suspended.filter(({ id, kind }) => !listedBefore.has(id) && !isExplained(kind));
  return [
    ...forgottenPayments.map((one) => `${one.id}: ${one.outcome}, without a next check`),
    ...forgottenRefunds.map((one) => `${one.payment_id}: refund ${one.id} is pending, without a next check`),
    ...forgottenOperations.map((one) => `operation ${one.id} (${one.kind}) waits for a person: ${one.last_error}`),
    ...forgottenSessions.map((one) => `session ${one.id} is ${one.status}, without a next check`),
    ...unexplained.map(
      (one) => `${one.payment_id}: ${one.id} (${one.kind}) is in the operators' list for no fault that was drawn`,
    ),
  ];
}
