// `operator journal check`: do the books agree? Straight on the database of payments, so that it also answers while no service does.
import { readConfig, serviceSettings } from "#platform/config.ts";
import { Database } from "#platform/database.ts";
import { createLog } from "#platform/log.ts";
import { checkSchema } from "#platform/migrate.ts";
import { type BooksDifference, checkJournal } from "../../services/payments/jobs/check-journal.ts";
import type { Commands, Row } from "./command.ts";

export const journal: Commands = {
  check: {
    about:
      "recomputes every payment from the journal (DATABASE_URL of payments); a row for each difference; exit code 1 if there is one",
    run: async () => {
      const rows: Row[] = [];
      const checked = await checkBooks(process.env, ({ paymentId, differences }) => {
        rows.push(...differences.map((difference) => ({ payment_id: paymentId, difference })));
      });
      return { rows, remark: `${checked} payments checked`, isBad: rows.length > 0 };
    },
  },
};

/** One pass over all payments. @returns how many there are. @throws ConfigError without DATABASE_URL. */
export async function checkBooks(
  env: Readonly<Record<string, string | undefined>>,
  onDifference: (found: BooksDifference) => void,
): Promise<number> {
  const { DATABASE_URL } = readConfig({ DATABASE_URL: serviceSettings.DATABASE_URL }, env);
  const log = createLog("journal-check", "error");
  const db = await Database.open({ url: DATABASE_URL, name: "journal-check", log });
  try {
    await checkSchema(db, "payments");
    return await checkJournal(db, onDifference);
  } finally {
    await db.close();
  }
}
