// The tables of a recovery: what was compared up to where, what is missing here, who began and ended it.
import { type Database, parseTime, type Sql, type Tx } from "#platform/database/database.ts";

/** What a database remembers of itself and of the stream. */
export interface Fence {
  readonly streamCreated: string;
  readonly streamSeq: number;
  readonly server: string;
  readonly why: RecoveryReason;
  readonly since: Date | undefined;
}

/** An event of ours as the stream has it. */
export interface OwnEvent {
  readonly id: string;
  readonly streamSeq: number;
  readonly subject: string;
  readonly body: Uint8Array;
}

export interface RecoveryAct {
  readonly at: Date;
  readonly act: string;
  readonly operator: string;
  readonly note: string;
}

export async function readFence(sql: Sql): Promise<Fence> {
  const [row] = await sql.rows<{
    stream_created: string;
    stream_seq: string;
    server: string;
    why: RecoveryReason;
    since: string | null;
  }>("select stream_created, stream_seq, server, why, since from recovery");
  if (!row) throw new Error("the row of recovery is gone");
  const { stream_created: streamCreated, stream_seq, server, why } = row;
  return { streamCreated, streamSeq: Number(stream_seq), server, why, since: parseTime(row.since) ?? undefined };
}

/** Which server and database this is; empty: we may not ask. */
export async function serverOf(sql: Sql): Promise<string> {
  try {
    const [row] = await sql.rows<{ server: string }>("select current_server() as server");
    return row?.server ?? "";
  } catch (error) {
    const mayNotAsk = error instanceof Error && "code" in error && (error.code === "42501" || error.code === "42883");
    if (mayNotAsk) return "";
    throw error;
  }
}

/** Differs after a restart of the database server, and after a loss in the stream (stream-record.ts). */
export async function readSurroundings(sql: Sql): Promise<string> {
  const [row] = await sql.rows<{ surroundings: string }>(
    "select concat_ws(' ', extract(epoch from pg_postmaster_start_time()), epoch, made_at) as surroundings from event_stream",
  );
  return row?.surroundings ?? "";
}

/** The events that the outbox lacks. */
export async function unknownToOutbox(sql: Sql, events: readonly OwnEvent[]): Promise<OwnEvent[]> {
  if (events.length === 0) return [];
  const rows = await sql.rows<{ id: string }>(
    `select id from unnest($1::text[]) as id where not exists (select from outbox where event_id = id)`,
    [events.map(({ id }) => id)],
  );
  const unknown = new Set(rows.map(({ id }) => id));
  return events.filter(({ id }) => unknown.has(id));
}

/** Writes a comparison's result, unless another replica was first. @returns false: compare again. */
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
  if (began) await noteAct(tx, { act: "begun", operator: "", note: to.why });
  if (ended) await noteAct(tx, { act: "ended", operator: "", note: "the broker agrees" });
  return true;
}

export async function noteAct(tx: Tx, { act, operator, note }: Omit<RecoveryAct, "at">): Promise<void> {
  await tx.rows("insert into recovery_acts (act, operator, note) values ($1, $2, $3)", [act, operator, note]);
}

/** By an operator's word. @returns false: it was begun before. */
export async function beginRecovery(
  db: Database,
  { operator, note }: { operator: string; note: string },
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const begun = await tx.rows("update recovery set why = 'operator', since = now() where why = '' returning why");
    if (begun.length > 0) await noteAct(tx, { act: "begun", operator, note });
    return begun.length > 0;
  });
}

/**
 * By an operator's word, which vouches for the server too.
 * @param announce in the same transaction
 * @returns false: there was none.
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
    await noteAct(tx, { act: "ended", operator, note });
    await announce(tx);
    return true;
  });
}

/** What is missing, and the time of the oldest of it in the stream's order. */
export async function missingEvents(
  sql: Sql,
  limit: number,
): Promise<{ events: OwnEvent[]; left: number; taken: number }> {
  const rows = await sql.rows<LostRow>(
    `select event_id, stream_seq, subject, body from recovery_events where taken_back_at is null
     order by stream_seq limit $1`,
    [limit],
  );
  const [counts] = await sql.rows<{ left: number; taken: number }>(
    `select count(*) filter (where taken_back_at is null)::int as left, count(taken_back_at)::int as taken from recovery_events`,
  );
  return { events: rows.map(ownEvent), left: counts?.left ?? 0, taken: counts?.taken ?? 0 };
}

const takeBackMax = 1_000;

/**
 * Puts a batch of what is missing into the outbox as it was announced, so that whoever asks about it is answered.
 * @returns how many
 */
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

/** What was done, oldest first. */
export async function recoveryActs(sql: Sql, limit: number): Promise<RecoveryAct[]> {
  const rows = await sql.rows<{ at: string; act: string; operator: string; note: string }>(
    "select at, act, operator, note from (select * from recovery_acts order by id desc limit $1) as newest order by id",
    [limit],
  );
  return rows.map((row) => ({ ...row, at: parseTime(row.at) }));
}

/** What the newest recovery found, in its order: an earlier one was ended by somebody. */
const ofThisRecovery = `found_at >= (select coalesce(r.since, (select max(at) from recovery_acts where act = 'begun'), '-infinity') from recovery r)`;

/** A lost event and what became of it. */
export interface LostEvent extends OwnEvent {
  readonly takenBack: boolean;
  readonly doneAgain: boolean;
}

/**
 * What was found missing, taken back or not, in the stream's order. @param after the last number of the page before; 0:
 * none
 */
export async function announcedSince(sql: Sql, after: bigint, limit: number): Promise<LostEvent[]> {
  const rows = await sql.rows<LostRow & { taken_back: boolean; done_again: boolean }>(
    `select event_id, stream_seq, subject, body, taken_back_at is not null as taken_back, done_again_at is not null as done_again
     from recovery_events where ${ofThisRecovery} and stream_seq > $1 order by stream_seq limit $2`,
    [after, limit],
  );
  return rows.map((row) => ({ ...ownEvent(row), takenBack: row.taken_back, doneAgain: row.done_again }));
}

/** Those that the service has to do again itself, and has not: for the transaction that does it. */
export async function lostToDoAgain(tx: Tx, subjects: readonly string[], limit: number): Promise<OwnEvent[]> {
  const rows = await tx.rows<LostRow>(
    `update recovery_events set done_again_at = now() where event_id in (
       select event_id from recovery_events where done_again_at is null and subject = any($1::text[])
       order by stream_seq limit $2 for update)
     returning event_id, stream_seq, subject, body`,
    [subjects, limit],
  );
  return rows.map(ownEvent).sort((one, other) => one.streamSeq - other.streamSeq);
}

interface LostRow {
  event_id: string;
  stream_seq: string;
  subject: string;
  body: Buffer;
}

function ownEvent({ event_id: id, stream_seq, subject, body }: LostRow): OwnEvent {
  return { id, streamSeq: Number(stream_seq), subject, body };
}

// Whether a database is the one that served last: what is seen of it and of the broker goes in, whether the service
// recovers comes out. Pure. An event that this service announced and that its database lacks is proof; another server
// alone is a question, since a failover brings one too, and the broker's agreement answers it.

/** Why a service recovers; empty: it does not. */
export type RecoveryReason = "" | "events_unknown" | "server_changed" | "operator";

/**
 * What the service's own stream says: every event of ours is in the outbox, or some are not; `unsure`: it is not read
 * to its end, does not answer, or is not the stream that was compared before.
 */
type StreamVerdict = "agrees" | "lacks" | "unsure";

interface RecoveryState {
  readonly why: RecoveryReason;
  /** The server as it was; empty: not known. */
  readonly server: string;
}

/** @returns what is to be remembered. */
export function judgeDatabase(
  known: RecoveryState,
  seen: { readonly server: string; readonly stream: StreamVerdict },
): RecoveryState {
  const server = seen.server || known.server;
  if (seen.stream === "lacks") return { why: known.why === "operator" ? "operator" : "events_unknown", server };
  if (seen.stream === "agrees") return { why: known.why === "server_changed" ? "" : known.why, server };
  const isDoubted = isOtherServer(known, seen.server);
  // The old name is kept until somebody vouches for the new one.
  return isDoubted ? { why: known.why || "server_changed", server: known.server } : { why: known.why, server };
}

/** True when the server is known, and it is not the one that it was. */
export function isOtherServer(known: RecoveryState, server: string): boolean {
  return known.server !== "" && server !== "" && known.server !== server;
}
