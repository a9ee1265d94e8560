// The migration that removes the default fee: merchants with payments keep it, and no other merchant has a fee.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findSchedule } from "../../../services/payments/store/fee-schedules.ts";
import { freshDatabase, inDatabase, openDatabase } from "../../harness/database.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("removal of the default fee");
const path = join(import.meta.dirname, "../../../services/payments/store/schema/0032-no-default-fee.sql");

/** Basis points by merchant, at three dates. */
async function ratesAfter(schedules: string, payments: string): Promise<Record<string, readonly number[]>> {
  const { url } = await freshDatabase("payments");
  await inDatabase(
    url,
    `set session_replication_role = replica; delete from fee_schedules;
     insert into fee_schedules (merchant_id, currency, connector, effective_from, basis_points, fixed_amount, operator)
     values ('*', '*', '*', '2000-01-01', 290, 30, '') ${schedules};
     insert into payments (id, merchant_id, environment, amount, currency, connector, connector_account_id, surface, expires_at, status)
     select 'pay_' || lpad(n::text, 26, '0'), name, 1, 100, 'EUR', 'simulator', 'mco', 'embedded', now() + interval '1 hour', 'pending'
     from unnest(array[${payments}]::text[]) with ordinality as merchant (name, n)`,
  );
  await inDatabase(url, readFileSync(path, "utf8"));
  const db = await openDatabase(url);
  const rates: Record<string, readonly number[]> = {};
  for (const merchantId of ["mer_old", "mer_own", "mer_new"]) {
    const at = ["2001-01-01", "2025-06-01", "2999-01-01"].map((day) =>
      findSchedule(db, { merchantId, currency: "EUR", connector: "simulator" }, new Date(day)),
    );
    rates[merchantId] = (await Promise.all(at)).map((fee) => fee?.basisPoints ?? 0);
  }
  await db.close();
  return rates;
}

const own = ", ('mer_own', '*', '*', '2025-01-01', 100, 0, 'ann')";

test("a merchant with payments keeps its past and present fees; a new one has none", async () => {
  assert.deepEqual(await ratesAfter(own, "'mer_old', 'mer_own', 'mer_old'"), {
    mer_old: [290, 290, 290],
    mer_own: [290, 100, 100],
    mer_new: [0, 0, 0],
  });
});

test("without payments no merchant has a fee", async () => {
  assert.deepEqual(await ratesAfter("", ""), { mer_old: [0, 0, 0], mer_own: [0, 0, 0], mer_new: [0, 0, 0] });
});

test("a fee that an operator set for all merchants stays", async () => {
  const everyones = ", ('*', 'EUR', '*', '2025-01-01', 150, 0, 'ann')";
  const rates = [290, 150, 150];
  assert.deepEqual(await ratesAfter(everyones, "'mer_old'"), { mer_old: rates, mer_own: rates, mer_new: rates });
});

test.run();
