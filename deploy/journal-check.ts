// `npm run journal:check`: one pass over all payments of the payments service's database, its lists' totals and its announcements.
// Prints each difference between what is stored and what the books give. Setting: DATABASE_URL. Exit code 0: none; 1: differences, or
// the check could not be made.
import { ConfigError } from "#platform/config.ts";
import { checkBooks } from "./operator/journal.ts";

try {
  let wrong = 0;
  const checked = await checkBooks(process.env, ({ about, differences }) => {
    wrong += 1;
    for (const difference of differences) console.log(`${about}: ${difference}`);
  });
  console.log(`${checked} payments checked, ${wrong} with differences`);
  process.exitCode = wrong === 0 ? 0 : 1;
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exitCode = 1;
}
