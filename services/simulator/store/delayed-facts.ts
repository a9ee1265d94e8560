// Delayed facts. The statement of the change deletes its fact.
import type { DelayedFact } from "../rules/intent.ts";
import type { Db } from "./pool.ts";

export interface DueFact {
  readonly id: string;
  readonly intent_id: string;
  readonly kind: DelayedFact["kind"];
  readonly object_id: string;
}

const roundMax = 50; // facts per round

/** Due facts, oldest first. There is one job, so they are not claimed. */
export async function findDueFacts(db: Db): Promise<DueFact[]> {
  const { rows } = await db.query<DueFact>({
    name: "find-due-facts",
    text: `select id, intent_id, kind, object_id from delayed_facts where due_at <= now() order by due_at limit ${roundMax}`,
  });
  return rows;
}

export async function dropFact(db: Db, id: string): Promise<void> {
  await db.query("delete from delayed_facts where id = $1", [id]);
}
