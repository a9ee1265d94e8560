// Fault switches with their draws and firings, which survive a restart.
import type { Fault, FaultSwitch } from "../rules/fault.ts";
import type { Db } from "./pool.ts";

export async function loadFaults(db: Db): Promise<Fault[]> {
  const { rows } = await db.query<{ id: string; switch: FaultSwitch; drawn: number; fired: number }>(
    "select id, switch, drawn, fired from faults order by created_at, id",
  );
  return rows.map(({ switch: settings, ...row }) => ({ ...settings, ...row }));
}

export async function insertFault(db: Db, id: string, settings: FaultSwitch): Promise<void> {
  await db.query("insert into faults (id, created_at, switch) values ($1, clock_timestamp(), $2)", [
    id,
    JSON.stringify(settings),
  ]);
}

export async function countFault(db: Db, fault: Fault): Promise<void> {
  await db.query("update faults set drawn = greatest(drawn, $2), fired = greatest(fired, $3) where id = $1", [
    fault.id,
    fault.drawn,
    fault.fired,
  ]);
}

export async function deleteFaults(db: Db): Promise<void> {
  await db.query("delete from faults");
}
