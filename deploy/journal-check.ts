// `npm run journal:check`: one pass over all payments of the payments service's database. Prints each difference between what is
// stored and what the books give. Setting: DATABASE_URL. Exit code 0: none; 1: differences, or the check could not be made.
import { ConfigError, readConfig, serviceSettings } from "#platform/config.ts";
import { Database } from "#platform/database.ts";
import { createLog } from "#platform/log.ts";
import { checkSchema } from "#platform/migrate.ts";
import { checkJournal } from "../services/payments/jobs/check-journal.ts";

try {
  const { DATABASE_URL } = readConfig({ DATABASE_URL: serviceSettings.DATABASE_URL });
  const db = await Database.open({
    url: DATABASE_URL,
    name: "journal-check",
    log: createLog("journal-check", "error"),
  });
  try {
    await checkSchema(db, "payments");
    let wrong = 0;
    const checked = await checkJournal(db, ({ paymentId, differences }) => {
      wrong += 1;
      for (const difference of differences) console.log(`${paymentId}: ${difference}`);
    });
    console.log(`${checked} payments checked, ${wrong} with differences`);
    process.exitCode = wrong === 0 ? 0 : 1;
  } finally {
    await db.close();
  }
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exitCode = 1;
}
