// Evidence files without their bytes.
import type { Db } from "./pool.ts";

interface FileRow {
  readonly id: string;
  readonly account: string;
  readonly type: string;
  readonly size: number;
  readonly sha256: string;
  readonly created_at: string;
}

export async function insertFile(db: Db, file: FileRow): Promise<void> {
  await db.query({
    name: "insert-file",
    text: "insert into files select * from jsonb_populate_record(null::files, $1)",
    values: [JSON.stringify(file)],
  });
}

export async function findFiles(db: Db, account: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await db.query<{ id: string }>({
    name: "find-files",
    text: "select id from files where account = $1 and id = any($2)",
    values: [account, ids],
  });
  return new Set(rows.map(({ id }) => id));
}
