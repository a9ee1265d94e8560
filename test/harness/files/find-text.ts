// Searches a stack for a text that must be nowhere: every table, with the outboxes that have the streams' bytes, and
// every log.
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { StackInfo } from "../../../deploy/local/stack-file.ts";
import { sources } from "../../../services/services.ts";
import { inDatabase } from "../database.ts";

/** @param text lower-case letters and digits; found in any case @returns tables and logs that have it */
export async function findText(stack: StackInfo, text: string): Promise<string[]> {
  const found: string[] = [];
  const bytes = Buffer.from(text).toString("hex");
  for (const source of sources) {
    const url = `${stack.database}_${source}`;
    const tables = await inDatabase<{ name: string }>(
      url,
      "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
    );
    for (const { name } of tables) {
      const [row] = await inDatabase<{ n: number }>(
        url,
        `select count(*)::int as n from "${name}" t where t::text ilike '%${text}%' or t::text like '%${bytes}%'`,
      );
      if (row && row.n > 0) found.push(`${source}.${name}: ${row.n}`);
    }
  }
  const logs = join(dirname(dirname(stack.rpc_files.callers)), "logs");
  for (const name of await readdir(logs)) {
    if ((await readFile(join(logs, name), "utf8")).toLowerCase().includes(text)) found.push(name);
  }
  return found;
}
