// Reads and follows the events of all merchants by position. Answers are read from the table when the reader takes
// them, so a slow reader costs no memory; one query for each process finds out that there are newer events.
import { setTimeout as pause } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Sql } from "#platform/database/database.ts";
import {
  asFailure,
  entryName,
  Failure,
  invalidField,
  toConnectError,
  type Violation,
} from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import { FailureSchema, Reason } from "#proto/failure/v1/failure_pb.ts";
import { eventTypeProblem } from "../rules/event-types.ts";
import { type FeedFilter, type FeedPage, listFeed, newestPosition } from "../store/event-feed.ts";

// The bounds of the proto.
const typesMax = 50;
const merchantsMax = 250;

export interface FeedQuery extends FeedFilter {
  readonly afterPosition: bigint;
}

/** One page. @throws Failure INVALID_BODY */
export async function readEvents(sql: Sql, query: FeedQuery, limit: number): Promise<FeedPage> {
  assertValid(query);
  const newest = await newestPosition(sql);
  if (query.afterPosition > newest) throw unreachedPosition(newest);
  return await listFeed(sql, query.afterPosition, newest, { ...query, limit });
}

export function unreachedPosition(newest: bigint): Failure {
  return invalidField("after_position", `is after the newest event, ${newest}`);
}

export interface WatchOptions {
  readonly heartbeatMs: number;
  /** The stream ends after this time: it then goes to a replica of today, with a token of today. */
  readonly lifeMs: number;
  /** The stream ends if the reader takes an answer later than this. */
  readonly stallMs: number;
  readonly nowMs: () => number;
}

export const watchDefaults: WatchOptions = {
  heartbeatMs: 15_000,
  lifeMs: 600_000,
  stallMs: 30_000,
  nowMs: () => performance.now(),
};

// An answer of this many events has about 50 kB.
const pageMax = 200;

/**
 * Follows the events until the signal.
 * @param assertAllowed asked before each page
 * @throws ConnectError with the Failure as its detail
 */
export async function* watchEvents(
  { db, tail }: { readonly db: Sql; readonly tail: EventTail },
  query: FeedQuery,
  signal: AbortSignal,
  assertAllowed: () => void,
  { nowMs, heartbeatMs, lifeMs, stallMs }: WatchOptions = watchDefaults,
): AsyncGenerator<FeedPage> {
  const beganAt = nowMs();
  const leave = tail.enter();
  try {
    assertAllowed();
    let page = await readEvents(db, query, pageMax);
    let [sentAt, newest] = [beganAt, page.newest];
    while (!signal.aborted && nowMs() - beganAt < lifeMs) {
      if (page.rows.length > 0 || nowMs() - sentAt >= heartbeatMs) {
        sentAt = nowMs();
        yield page;
        if (nowMs() - sentAt > stallMs) throw tooSlow(page.nextPosition);
      }
      if (!page.hasMore) newest = await tail.newest();
      assertAllowed();
      page = await listFeed(db, page.nextPosition, newest, { ...query, limit: pageMax });
    }
  } catch (error) {
    throw error instanceof ConnectError ? error : toConnectError(asFailure(error));
  } finally {
    leave();
  }
}

function tooSlow(position: bigint): ConnectError {
  const detail = create(FailureSchema, { reason: Reason.SERVICE_UNAVAILABLE, retryAfterMs: 1 });
  const message = `reader too slow: resume after position ${position}`;
  return new ConnectError(message, Code.ResourceExhausted, undefined, [{ desc: FailureSchema, value: detail }]);
}

// A watching reader costs a stream and its part of the queries.
const readersMax = 200;
const pollMs = 100;

/** Finds newer events for all readers of this process, with one query at a time. */
export class EventTail {
  readonly #db: Sql;
  #readers = 0;
  #next: Promise<bigint> | undefined;

  constructor(db: Sql) {
    this.#db = db;
  }

  /** @returns how the reader leaves @throws Failure SERVICE_UNAVAILABLE */
  enter(): () => void {
    if (this.#readers >= readersMax) throw new Failure("SERVICE_UNAVAILABLE", { retryAfterMs: 5_000 });
    this.#readers++;
    return () => void this.#readers--;
  }

  /** The newest position, after a moment. */
  async newest(): Promise<bigint> {
    this.#next ??= this.#poll().finally(() => {
      this.#next = undefined;
    });
    return await this.#next;
  }

  async #poll(): Promise<bigint> {
    await pause(pollMs);
    return await newestPosition(this.#db);
  }
}

/** @throws Failure INVALID_BODY. The RPC server checks no bounds of a stream's request. */
function assertValid({ afterPosition, types, merchantIds }: FeedQuery): void {
  const violations: Violation[] = [];
  if (afterPosition < 0n) violations.push({ field: "after_position", problem: "must not be negative" });
  if (types.length > typesMax) violations.push({ field: "types", problem: `must have at most ${typesMax} items` });
  if (merchantIds.length > merchantsMax) {
    violations.push({ field: "merchant_ids", problem: `must have at most ${merchantsMax} items` });
  }
  for (const [i, type] of types.slice(0, typesMax).entries()) {
    const problem = eventTypeProblem(type);
    if (problem !== undefined) violations.push({ field: entryName("types", i), problem });
  }
  for (const [i, id] of merchantIds.slice(0, merchantsMax).entries()) {
    if (!isId("merchant", id))
      violations.push({ field: entryName("merchant_ids", i), problem: "is not a merchant id" });
  }
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
}
