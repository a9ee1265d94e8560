// Searches a stack for a text that must be nowhere: every table, and every file of the stack's folder. These are the
// broker's streams (NATS stores them uncompressed), the logs and the settings.
import { glob } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { StackInfo } from "../../../deploy/local/stack-file.ts";
import { readIfThere } from "../../../deploy/local/state/private-file.ts";
import { sources } from "../../../services/services.ts";
import { inDatabase } from "../database.ts";

/** @param text lower-case letters and digits; found in any case @returns tables and files that have it */
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
  const folder = dirname(dirname(stack.rpc_files.callers));
  // PostgreSQL's own files keep deleted rows until a vacuum.
  const files = glob("**", { cwd: folder, withFileTypes: true, exclude: ({ name }) => name === "postgres" });
  for await (const entry of files) {
    const path = join(entry.parentPath, entry.name);
    const content = entry.isFile() ? await readIfThere(path) : undefined;
    if (content?.toLowerCase().includes(text)) found.push(relative(folder, path));
  }
  return found;
}
