// Searches a stack for a text that must be nowhere: every table, and every file of its folder: the broker's streams,
// which are not compressed, logs and settings.
import { glob, readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { StackInfo } from "../../../deploy/local/stack-file.ts";
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
  for (const part of (await readdir(folder)).filter((name) => name !== "postgres")) {
    for await (const path of glob(join(folder, part, "**"))) {
      if ((await contentOf(path)).toLowerCase().includes(text)) found.push(relative(folder, path));
    }
  }
  return found;
}

/** Empty: a folder, or a file that its program has just removed. */
async function contentOf(path: string): Promise<string> {
  return await readFile(path, "latin1").catch((error) => {
    if (["EISDIR", "ENOENT"].includes(error.code)) return "";
    throw error;
  });
}
