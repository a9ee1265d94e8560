// The migration that takes the fee of every merchant away: whoever has payments keeps it, and nobody else has one.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Database } from "#platform/database/database.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { findSchedule } from "../../../services/payments/store/fee-schedules.ts";
import { freshDatabase, inDatabase } from "../../harness/database.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("the fee that came with the installation");
const path = join(import.meta.dirname, "../../../services/payments/store/schema/0032-no-default-fee.sql");

/** Basis points that merchants pay at these times, by their names. */
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
  const db = await Database.open({ url, name: "test", log: createLog("test", "error") });
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

test("a merchant who has payments keeps what they pay, and have paid; a new one has no fee", async () => {
  assert.deepEqual(await ratesAfter(own, "'mer_old', 'mer_own', 'mer_old'"), {
    mer_old: [290, 290, 290],
    mer_own: [290, 100, 100],
    mer_new: [0, 0, 0],
  });
});

test("nobody has a fee where nobody has paid", async () => {
  assert.deepEqual(await ratesAfter("", ""), { mer_old: [0, 0, 0], mer_own: [0, 0, 0], mer_new: [0, 0, 0] });
});

test("what an operator has set for every merchant stays for every merchant", async () => {
  const everyones = ", ('*', 'EUR', '*', '2025-01-01', 150, 0, 'ann')";
  const rates = [290, 150, 150];
  assert.deepEqual(await ratesAfter(everyones, "'mer_old'"), { mer_old: rates, mer_own: rates, mer_new: rates });
});

test.run();
