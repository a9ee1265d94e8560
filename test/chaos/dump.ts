// Writes all rows about the differences of a run to one file, for finding the cause.
import { cp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Database } from "#platform/database/database.ts";
import type { WideRig } from "./wide-rig.ts";

/** Things that are looked up, and rows of each table that are written: more than anybody reads. */
const namesMax = 50;
const rowsMax = 2_000;

type Rows = Readonly<Record<string, readonly unknown[]>>;

/** Writes every row that names a payment, session or story of the differences, and the logs. @returns their paths */
export async function dumpBooks({ books, shops, running }: WideRig, differences: readonly string[]): Promise<string> {
  const mentioned = new Set(differences.flatMap((one) => [...idsIn(one), ...storiesIn(one)]));
  const named = [...mentioned].slice(0, namesMax);
  // A story that never got an answer is known by its idempotency key, which names the object that was to be made.
  const keys = idsIn(JSON.stringify(await everyBook(books, named, `relname = 'idempotency_keys'`)));
  const names = [...named, ...keys];
  const accounts = shops.flatMap(({ stripe }) => (stripe ? [stripe.account] : []));
  const objects = accounts.flatMap((one) => [one.intents, one.charges, one.refunds, one.disputes, one.sessions]);
  const isNamed = (object: unknown) => names.length > 0 && new RegExp(names.join("|")).test(JSON.stringify(object));
  const stripe = objects.flatMap((map) => [...map.values()]).filter(isNamed);
  const path = join(tmpdir(), `tollbooth-differences-${Date.now()}.json`);
  const dump = { differences, ...(await everyBook(books, names)), stripe };
  await writeFile(path, JSON.stringify(dump, undefined, 1), { mode: 0o600 });
  const logs = path.replace(".json", "-logs");
  await cp(join(dirname(dirname(running.stack.tls.ca)), "logs"), logs, { recursive: true });
  return `${path}, and the processes: ${logs}`;
}

/** The part of our ids that a payment and its session share. */
function idsIn(text: string): string[] {
  return [...text.matchAll(/\b(?:pay|cs|re|op)_([0-9a-z]{26})\b/g)].map(([, id]) => id ?? "");
}

/** Stories as their idempotency keys, descriptions and reasons have them. */
function storiesIn(text: string): string[] {
  return [...text.matchAll(/(?:\b|-)(\d+-\d+(?:-\d+)*): /g)].map(
    ([, story]) => `(create|token|refund)-${story}-|order-${story}"`,
  );
}

async function everyBook(
  books: WideRig["books"],
  names: readonly string[],
  which = "true",
): Promise<Record<string, Rows>> {
  if (names.length === 0) return {};
  const entries = Object.entries(books).map(
    async ([name, book]) => [name, await rowsNaming(book, names, which)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

async function rowsNaming(database: Database, names: readonly string[], which: string): Promise<Rows> {
  const tables = await database.rows<{ name: string }>(
    `select quote_ident(relname) as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and ${which} order by 1`,
  );
  const found: Record<string, readonly unknown[]> = {};
  for (const { name } of tables) {
    const rows = await database.rows<{ row: unknown }>(
      `select to_jsonb(t) as row from ${name} t where to_jsonb(t)::text ~ $1 limit ${rowsMax}`,
      [names.join("|")],
    );
    if (rows.length > 0) found[name] = rows.map(({ row }) => row);
  }
  return found;
}
