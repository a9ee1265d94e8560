// Tables of a recovery: the compared position, the missing events, and who started and ended it.
import { type Database, parseTime, type Sql, type Tx } from "#platform/database/database.ts";
import { errorCode } from "#platform/values/unchecked.ts";

/** The database's last known server, stream position and recovery. */
export interface Fence {
  readonly streamCreated: string;
  readonly streamSeq: number;
  readonly server: string;
  readonly why: RecoveryReason;
  readonly since: Date | undefined;
}

/** An event of this service in the stream. */
export interface OwnEvent {
  readonly id: string;
  readonly streamSeq: number;
  readonly subject: string;
  readonly body: Uint8Array;
}

interface RecoveryAction {
  readonly at: Date;
  readonly act: string;
  readonly operator: string;
  readonly note: string;
}

export async function readFence(sql: Sql): Promise<Fence> {
  const [row] = await sql.rows<Omit<Fence, "streamSeq" | "since"> & { streamSeq: string; since: string | null }>(
    `select stream_created as "streamCreated", stream_seq as "streamSeq", server, why, since from recovery`,
  );
  if (!row) throw new Error("recovery has no row");
  return { ...row, streamSeq: Number(row.streamSeq), since: parseTime(row.since) ?? undefined };
}

/** Identifies server and database; empty without the right to ask. */
export async function serverOf(sql: Sql): Promise<string> {
  try {
    const [row] = await sql.rows<{ server: string }>("select current_server() as server");
    return row?.server ?? "";
  } catch (error) {
    // Not allowed, or the function does not exist.
    if (["42501", "42883"].includes(errorCode(error))) return "";
    throw error;
  }
}

/** Changes after a restart of the database server, and after a loss in the stream (stream-record.ts). */
export async function readSurroundings(sql: Sql): Promise<string> {
  const [row] = await sql.rows<{ surroundings: string }>(
    "select concat_ws(' ', extract(epoch from pg_postmaster_start_time()), epoch, made_at) as surroundings from event_stream",
  );
  return row?.surroundings ?? "";
}

export async function unknownToOutbox(sql: Sql, events: readonly OwnEvent[]): Promise<OwnEvent[]> {
  if (events.length === 0) return [];
  const rows = await sql.rows<{ id: string }>(
    `select id from unnest($1::text[]) as id where not exists (select from outbox where event_id = id)`,
    [events.map(({ id }) => id)],
  );
  const unknown = new Set(rows.map(({ id }) => id));
  return events.filter(({ id }) => unknown.has(id));
}

/** Stores a comparison's result unless another replica did first. @returns false: compare again */
export async function moveFence(
  tx: Tx,
  from: Omit<Fence, "since">,
  to: Omit<Fence, "since">,
  missing: readonly OwnEvent[],
): Promise<boolean> {
  const isSame = (["streamCreated", "streamSeq", "server", "why"] as const).every((key) => from[key] === to[key]);
  if (isSame && missing.length === 0) return true;
  const moved = await tx.rows(
    `update recovery set stream_created = $4, stream_seq = $5, server = $6, why = $7,
       since = case when $7 = '' then null else coalesce(since, now()) end
     where stream_created = $1 and stream_seq = $2 and why = $3 returning why`,
    [from.streamCreated, from.streamSeq, from.why, to.streamCreated, to.streamSeq, to.server, to.why],
  );
  if (moved.length === 0) return false;
  await tx.rows(
    `insert into recovery_events (event_id, stream_seq, subject, body)
       select * from unnest($1::text[], $2::bigint[], $3::text[], $4::bytea[]) on conflict do nothing`,
    [
      missing.map(({ id }) => id),
      missing.map(({ streamSeq }) => streamSeq),
      missing.map(({ subject }) => subject),
      missing.map(({ body }) => Buffer.from(body)),
    ],
  );
  const began = from.why === "" && to.why !== "";
  const ended = from.why !== "" && to.why === "";
  if (began) await recordAction(tx, { act: "begun", operator: "", note: to.why });
  if (ended) await recordAction(tx, { act: "ended", operator: "", note: "the broker agrees" });
  return true;
}

export async function recordAction(tx: Tx, { act, operator, note }: Omit<RecoveryAction, "at">): Promise<void> {
  await tx.rows("insert into recovery_acts (act, operator, note) values ($1, $2, $3)", [act, operator, note]);
}

/** Begun by an operator. @returns false if a recovery is active already */
export async function beginRecovery(db: Database, by: Omit<RecoveryAction, "at" | "act">): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const begun = await tx.rows("update recovery set why = 'operator', since = now() where why = '' returning why");
    if (begun.length > 0) await recordAction(tx, { act: "begun", ...by });
    return begun.length > 0;
  });
}

/**
 * Ended by an operator, who also confirms the server.
 * @param announce in the same transaction
 * @returns false without an active recovery
 */
export async function endRecovery(
  db: Database,
  decision: { operator: string; note: string; server: string },
  announce: (tx: Tx) => Promise<void> = async () => {},
): Promise<boolean> {
  const { operator, note, server } = decision;
  return await db.transaction(async (tx) => {
    const ended = await tx.rows(
      "update recovery set why = '', since = null, server = coalesce(nullif($1, ''), server) where why <> '' returning why",
      [server],
    );
    if (ended.length === 0) return false;
    await recordAction(tx, { act: "ended", operator, note });
    await announce(tx);
    return true;
  });
}

export async function missingEvents(
  sql: Sql,
  limit: number,
): Promise<{ events: OwnEvent[]; left: number; taken: number }> {
  const rows = await sql.rows<LostRow>(
    `select ${lostColumns} from recovery_events where taken_back_at is null
     order by stream_seq limit $1`,
    [limit],
  );
  const [counts] = await sql.rows<{ left: number; taken: number }>(
    `select count(*) filter (where taken_back_at is null)::int as left, count(taken_back_at)::int as taken from recovery_events`,
  );
  return { events: rows.map(ownEvent), left: counts?.left ?? 0, taken: counts?.taken ?? 0 };
}

const takeBackMax = 1_000;

/** Restores a batch of missing events to the outbox as announced, so consumers get them confirmed. @returns how many */
export async function takeBackEvents(tx: Tx): Promise<number> {
  const rows = await tx.rows(
    `with taken as (
       update recovery_events set taken_back_at = now() where event_id in (
         select event_id from recovery_events where taken_back_at is null order by stream_seq limit $1)
       returning event_id, stream_seq, subject, body),
     written as (
       insert into outbox (event_id, subject, body, published_at)
       select event_id, subject, body, now() from taken order by stream_seq on conflict (event_id) do nothing)
     select event_id from taken`,
    [takeBackMax],
  );
  return rows.length;
}

/** Actions, oldest first. */
export async function listRecoveryActions(sql: Sql, limit: number): Promise<RecoveryAction[]> {
  const rows = await sql.rows<{ at: string; act: string; operator: string; note: string }>(
    "select at, act, operator, note from (select * from recovery_acts order by id desc limit $1) as newest order by id",
    [limit],
  );
  return rows.map((row) => ({ ...row, at: parseTime(row.at) }));
}

/** Events found by the newest recovery only. */
const ofThisRecovery = `found_at >= (select coalesce(r.since, (select max(at) from recovery_acts where act = 'begun'), '-infinity') from recovery r)`;

export interface LostEvent extends OwnEvent {
  readonly takenBack: boolean;
  readonly doneAgain: boolean;
}

/** Missing events, restored or not, in stream order. @param after last number of the previous page; 0 for the first */
export async function announcedSince(sql: Sql, after: bigint, limit: number): Promise<LostEvent[]> {
  const rows = await sql.rows<LostRow & Pick<LostEvent, "takenBack" | "doneAgain">>(
    `select ${lostColumns}, taken_back_at is not null as "takenBack", done_again_at is not null as "doneAgain"
     from recovery_events where ${ofThisRecovery} and stream_seq > $1 order by stream_seq limit $2`,
    [after, limit],
  );
  return rows.map(ownEvent);
}

/** Columns of `recovery_events` that `ownEvent` reads. */
export const lostColumns = `event_id as id, stream_seq as "streamSeq", subject, body`;
export type LostRow = Omit<OwnEvent, "streamSeq"> & { readonly streamSeq: string };

export function ownEvent<Row extends LostRow>(row: Row) {
  return { ...row, streamSeq: Number(row.streamSeq) };
}

// Decides whether a database is the one that served last. Pure. An event that this service announced and its database
// lacks is proof. Another server alone is a question, since failovers bring one too; the broker's agreement answers it.

/** Empty when the service does not recover. */
export type RecoveryReason = "" | "events_unknown" | "server_changed" | "operator";

/**
 * The stream compared with the outbox: `agrees`, `lacks` events, or `unsure`: not read completely, unavailable, or
 * another stream.
 */
type StreamVerdict = "agrees" | "lacks" | "unsure";

interface RecoveryState {
  readonly why: RecoveryReason;
  /** The last known server; empty when unknown. */
  readonly server: string;
}

/** @returns the state to store */
export function judgeDatabase(
  known: RecoveryState,
  seen: { readonly server: string; readonly stream: StreamVerdict },
): RecoveryState {
  const server = seen.server || known.server;
  if (seen.stream === "lacks") return { why: known.why === "operator" ? "operator" : "events_unknown", server };
  if (seen.stream === "agrees") return { why: known.why === "server_changed" ? "" : known.why, server };
  const isDoubted = isOtherServer(known, seen.server);
  // The old server stays recorded until the new one is confirmed.
  return isDoubted ? { why: known.why || "server_changed", server: known.server } : { why: known.why, server };
}

export function isOtherServer(known: RecoveryState, server: string): boolean {
  return known.server !== "" && server !== "" && known.server !== server;
}
