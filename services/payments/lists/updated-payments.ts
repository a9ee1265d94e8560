// Payments that changed in a window of the past, the least recently changed first.
import type { Sql } from "#platform/database/database.ts";
import { clockMs } from "#platform/values/clock.ts";
import { invalidField } from "#platform/values/failure.ts";
import { type ItemRow, itemColumns, itemOf, type Owner, type PaymentItem } from "../store/payment-records.ts";

// A time is noted before its transaction commits. None takes as long: a statement has 10 s, a pause between two 5 s.
const visibleAfterMs = 60_000;
const limitDefault = 200;
// Microseconds since 1970 and the id of the last payment.
const tokenForm = /^(\d{1,17})_(pay_[0-9a-hjkmnp-tv-z]{26})$/;

interface UpdateWindow {
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  /** 0: the default. */
  readonly limit: number;
  readonly pageToken: string;
}

/** @throws Failure INVALID_BODY */
export async function listUpdatedPayments(
  sql: Sql,
  { merchantId, environment }: Owner,
  { from, to, limit, pageToken }: UpdateWindow,
): Promise<{ rows: PaymentItem[]; nextPageToken: string }> {
  if (from >= to) throw invalidField("updated_from", "must be before updated_to");
  if (to.getTime() > clockMs() - visibleAfterMs) throw invalidField("updated_to", "must be at least a minute ago");
  const [, at = `${from.getTime()}000`, id = ""] = tokenForm.exec(pageToken) ?? [];
  if (pageToken !== "" && id === "") throw invalidField("page_token", "is not one of ours");
  const size = limit || limitDefault;
  const after = "timestamptz 'epoch' + $3::bigint * interval '1 microsecond'";
  const found = await sql.rows<ItemRow & { updated_us: string }>(
    `select ${itemColumns}, (extract(epoch from t.updated_at) * 1000000)::bigint as updated_us from payments t
     where t.merchant_id = $1 and t.environment = $2 and t.visible
       and t.updated_at >= ${after} and (t.updated_at > ${after} or t.id > $4) and t.updated_at < $5
     order by t.updated_at, t.id limit $6`,
    [merchantId, environment, at, id, to.toISOString(), size + 1],
  );
  const page = found.slice(0, size);
  const last = page.at(-1);
  return { rows: page.map(itemOf), nextPageToken: last && found.length > size ? `${last.updated_us}_${last.id}` : "" };
}
