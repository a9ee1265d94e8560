// What will happen by itself. A fact is removed by the change that carries it out, in one statement.
import type { DelayedFact } from "../rules/intent.ts";
import type { Db } from "./pool.ts";

export interface DueFact {
  readonly id: string;
  readonly intent_id: string;
  readonly kind: DelayedFact["kind"];
  readonly object_id: string;
}

const roundMax = 50; // then the job looks again

/** What is due, the longest waiting first. There is one job at a time: nothing needs to be claimed. */
export async function findDueFacts(db: Db): Promise<DueFact[]> {
  const { rows } = await db.query<DueFact>({
    name: "find-due-facts",
    text: `select id, intent_id, kind, object_id from delayed_facts where due_at <= now() order by due_at limit ${roundMax}`,
  });
  return rows;
}

/** For a fact that came to nothing: its object has moved on. */
export async function dropFact(db: Db, id: string): Promise<void> {
  await db.query("delete from delayed_facts where id = $1", [id]);
}
