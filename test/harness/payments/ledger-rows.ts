// Rows of the ledger for tests: journal entries, movements and payouts with the times of a test, as if jobs and flows
// had written them then.
import type { Database, Sql } from "#platform/database/database.ts";
import { newId } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { postings } from "../../../services/payments/rules/journal.ts";
import { insertPayments } from "../../../services/payments/store/new-payments.ts";
import { paymentInsert } from "./payment-insert.ts";

export interface BooksOwner {
  readonly merchantId: string;
  readonly environment: Environment;
}

interface MovementFields {
  readonly amount: bigint;
  readonly fee?: bigint;
  readonly currency?: string;
  readonly source?: readonly [amount: bigint, currency: string];
  readonly isOurs?: boolean;
}

/** Writes rows of one merchant. A time without another one is value date and time of writing. */
export class LedgerRows {
  readonly #sql: Sql;
  readonly #owner: BooksOwner;
  #paymentId = "";
  #currency = "EUR";

  constructor(sql: Sql, owner: BooksOwner) {
    this.#sql = sql;
    this.#owner = owner;
  }

  /** Rows of journal and movements from now on belong to a new payment. */
  async payment(db: Database, currency: string): Promise<string> {
    const insert = paymentInsert({ ...this.#owner, currency });
    await insertPayments(db, [insert]);
    this.#paymentId = insert.payment.id;
    this.#currency = currency;
    return this.#paymentId;
  }

  async journal(kind: keyof typeof postings, amount: bigint, at: string, postedAt = at): Promise<void> {
    const { debit, credit } = postings[kind];
    await this.#sql.rows(
      `insert into journal (merchant_id, environment, currency, payment_id, kind, cause, debit, credit, amount, created_at, captured_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, case when $5 = 'captured' then $11::timestamptz end)`,
      [
        ...[this.#owner.merchantId, this.#owner.environment, this.#currency, this.#paymentId, kind, newId("operation")],
        ...[debit, credit, String(amount), postedAt, at],
      ],
    );
  }

  async movement(type: string, fields: MovementFields, at: string, postedAt = at): Promise<void> {
    const { amount, fee = 0n, currency = this.#currency, source, isOurs = true } = fields;
    const id = newId("movement");
    await this.#sql.rows(
      `insert into movements (id, merchant_id, environment, connector_account_id, ref, type, currency, amount, fee, source_amount,
         source_currency, is_ours, payment_id, occurred_at, available_at, posted_at)
       values ($1, $2, $3, 'mco_books', $1, $4, $5, $6, $7, $8, $9, $10, nullif($11, ''), $12, $12, $13)`,
      [
        ...[id, this.#owner.merchantId, this.#owner.environment, type, currency, String(amount), String(fee)],
        ...[
          source ? String(source[0]) : null,
          source?.[1] ?? null,
          isOurs,
          isOurs ? this.#paymentId : "",
          at,
          postedAt,
        ],
      ],
    );
  }

  /** A payout that was paid, and perhaps returned. @returns its id */
  async payout(
    amount: bigint,
    currency: string,
    paidAt: string,
    change: { returnedAt?: string; descriptor?: string; ref?: string } = {},
  ): Promise<string> {
    const id = newId("payout");
    const { returnedAt = null, descriptor = "", ref = id } = change;
    await this.#sql.rows(
      `insert into payouts (id, merchant_id, environment, connector_account_id, ref, amount, currency, status, arrival_date,
         statement_descriptor, created_at, paid_at, paid_posted_at, returned_at, returned_posted_at)
       values ($1, $2, $3, 'mco_books', $4, $5, $6, case when $8::timestamptz is null then 'paid' else 'returned' end, $7::timestamptz::date,
         $9, $7, $7, $7, $8, $8)`,
      [
        id,
        this.#owner.merchantId,
        this.#owner.environment,
        ref,
        String(amount),
        currency,
        paidAt,
        returnedAt,
        descriptor,
      ],
    );
    return id;
  }
}
