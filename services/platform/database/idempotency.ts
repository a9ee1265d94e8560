// Idempotency keys in the owner's database (docs/contract.md §6): one key of one operation stands for one object. A key
// is claimed with a lease and an object id; work that failed releases the lease and a retry goes on with the same
// object; a final answer is stored encrypted and replayed.
import { randomUUID } from "node:crypto";
import { sameSecret, type Vault } from "#platform/secrets/vault.ts";
import { callContext } from "#platform/values/call-context.ts";
import { Failure, type FailureReason } from "#platform/values/failure.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Database, Sql } from "./database.ts";

const keepHours = 72;
const sweepMax = 5_000;

export interface IdempotencyScope {
  readonly merchantId: string;
  readonly environment: Environment;
  /** What the key is used for; one key of two operations is two keys. */
  readonly operation: string;
  readonly key: string;
  readonly fingerprint: Uint8Array;
}

/** What a claimed key stands for: an object to work on, or the answer that was given. */
export type Claim =
  | { readonly kind: "work"; readonly objectId: string; readonly lockId: string }
  | { readonly kind: "replay"; readonly answer: StoredAnswer };

/** A final answer: the response's bytes, or a refusal decided after the work began. */
export type StoredAnswer =
  | { readonly kind: "response"; readonly bytes: Uint8Array }
  | { readonly kind: "refusal"; readonly reason: FailureReason };

/** Refusals that are stored and replayed; all others release the key. */
const storedRefusals: ReadonlySet<FailureReason> = new Set<FailureReason>([
  "PAYMENT_BLOCKED",
  "NO_CONNECTOR",
  "NOT_REFUNDABLE",
  "AMOUNT_TOO_LARGE",
  "NOT_FOUND",
  "FEATURE_DISABLED",
  "DISPUTE_NOT_ANSWERABLE",
]);

export class IdempotencyKeys {
  readonly #db: Database;
  readonly #vault: Vault;
  readonly #leaseSeconds: number;

  /**
   * @param leaseSeconds how long work may hold a key; with fencing by the lock's id, running over it costs a repeat, no
   * more.
   */
  constructor(db: Database, vault: Vault, leaseSeconds: number) {
    this.#db = db;
    this.#vault = vault;
    this.#leaseSeconds = leaseSeconds;
  }

  /**
   * Claims the key in a transaction of its own. `objectId` is used when the key is new; a key that was released earlier
   * answers the object it was first claimed with.
   * @throws Failure IDEMPOTENCY_KEY_REUSE (other fingerprint), IDEMPOTENCY_CONFLICT (still in flight).
   */
  async claim(scope: IdempotencyScope, objectId: string): Promise<Claim> {
    const bare = await this.#claimRow(scope, scope.key, objectId);
    if (isOf(bare, scope)) return this.#claimed(scope, bare);
    // Another operation was first with this key.
    return this.#claimed(scope, await this.#claimRow(scope, ownKey(scope), objectId));
  }

  /**
   * Takes the row of a key for ourselves if it is free: new, released, past its lease, or held by a try of this very
   * request.
   */
  async #claimRow(scope: IdempotencyScope, rowKey: string, objectId: string): Promise<KeyRow> {
    const request = callContext.getStore()?.requestId ?? randomUUID();
    const lockId = `${request}/${randomUUID()}${rowKey === scope.key ? "" : ownMark}`;
    const isFree = `k.fingerprint = excluded.fingerprint and k.operation in ('', excluded.operation) and k.answer is null
      and (coalesce(k.locked_until, '-infinity') < now() or starts_with(k.lock_id, $9))`;
    const [row] = await this.#db.rows<Omit<KeyRow, "rowKey" | "lockId">>(
      `insert into idempotency_keys as k (merchant_id, environment, key, fingerprint, object_id, locked_until, lock_id, operation)
       values ($1, $2, $3, $4, $5, now() + make_interval(secs => $7), $6, $8)
       on conflict (merchant_id, environment, key) do update set
         locked_until = case when ${isFree} then excluded.locked_until else k.locked_until end,
         lock_id = case when ${isFree} then excluded.lock_id else k.lock_id end
       returning object_id, fingerprint, answer, operation, lock_id = $6 as mine`,
      [
        scope.merchantId,
        scope.environment,
        rowKey,
        scope.fingerprint,
        objectId,
        lockId,
        this.#leaseSeconds,
        scope.operation,
        `${request}/`,
      ],
    );
    if (!row) throw new Error("the claim answered no row");
    return { ...row, rowKey, lockId };
  }

  #claimed(scope: IdempotencyScope, row: KeyRow): Claim {
    if (!sameSecret(row.fingerprint, scope.fingerprint)) throw new Failure("IDEMPOTENCY_KEY_REUSE");
    if (row.answer) return { kind: "replay", answer: this.#open(scope, row.rowKey, row.answer) };
    if (!row.mine) throw new Failure("IDEMPOTENCY_CONFLICT", { retryAfterMs: 1_000 });
    return { kind: "work", objectId: row.object_id, lockId: row.lockId };
  }

  /**
   * Stores the final answer, within the transaction that makes it true.
   * @throws Failure IDEMPOTENCY_CONFLICT when the lease ran out and somebody else works on the key now: the transaction
   * must not commit, or the other one would find the object made without an answer.
   */
  async finish(sql: Sql, scope: IdempotencyScope, lockId: string, answer: StoredAnswer): Promise<void> {
    const rowKey = rowKeyOf(scope, lockId);
    const finished = await sql.rows(
      `update idempotency_keys set answer = $4, locked_until = null
       where merchant_id = $1 and environment = $2 and key = $3 and lock_id = $5 and answer is null returning key`,
      [scope.merchantId, scope.environment, rowKey, this.#seal(scope, rowKey, answer), lockId],
    );
    if (finished.length === 0) throw new Failure("IDEMPOTENCY_CONFLICT", { retryAfterMs: 1_000 });
  }

  /**
   * A key that was lost, with the answer that it was given; without one a retry goes on with its object. One that has
   * an answer is left, and so is another operation's; one without was claimed when the backup was taken, and stands
   * from now on for what was made of it.
   * @returns true when it was lost
   */
  async restore(sql: Sql, scope: IdempotencyScope, objectId: string, answer?: StoredAnswer): Promise<boolean> {
    const { merchantId, environment, fingerprint, operation } = scope;
    const isUnanswered = "k.answer is null and k.operation in ('', excluded.operation)";
    // Which of the two it was is not known any more: the bare one where no other operation has that.
    for (const rowKey of [scope.key, ownKey(scope)]) {
      const [row] = await sql.rows<{ operation: string; is_new: boolean }>(
        `insert into idempotency_keys as k (merchant_id, environment, key, fingerprint, object_id, answer, operation)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (merchant_id, environment, key) do update set
           object_id = case when ${isUnanswered} then excluded.object_id else k.object_id end,
           fingerprint = case when ${isUnanswered} then excluded.fingerprint else k.fingerprint end,
           answer = case when ${isUnanswered} then excluded.answer else k.answer end
         returning operation, xmax = 0 as is_new`,
        [
          merchantId,
          environment,
          rowKey,
          fingerprint,
          objectId,
          answer ? this.#seal(scope, rowKey, answer) : null,
          operation,
        ],
      );
      if (row?.operation === operation || row?.operation === "") return row.is_new;
    }
    return false;
  }

  /** After a failure: stores it if it is final, else gives the key back so that a retry can go on. */
  async settleFailure(scope: IdempotencyScope, lockId: string, failure: Failure): Promise<void> {
    if (storedRefusals.has(failure.reason)) {
      await this.finish(this.#db, scope, lockId, { kind: "refusal", reason: failure.reason });
      return;
    }
    // Nothing was made of it, so the corrected request may have the same key.
    if (failure.reason === "INVALID_BODY") {
      await this.#db.rows(
        `delete from idempotency_keys where merchant_id = $1 and environment = $2 and key = $3 and lock_id = $4 and answer is null`,
        [scope.merchantId, scope.environment, rowKeyOf(scope, lockId), lockId],
      );
      return;
    }
    await this.#db.rows(
      `update idempotency_keys set locked_until = null
       where merchant_id = $1 and environment = $2 and key = $3 and lock_id = $4`,
      [scope.merchantId, scope.environment, rowKeyOf(scope, lockId), lockId],
    );
  }

  /** Deletes keys past their keeping time. @returns true when there may be more. */
  async sweep(): Promise<boolean> {
    const rows = await this.#db.rows(
      `delete from idempotency_keys where (merchant_id, environment, key) in (
         select merchant_id, environment, key from idempotency_keys
         where created_at < now() - make_interval(hours => $1) limit $2)
       returning key`,
      [keepHours, sweepMax],
    );
    return rows.length === sweepMax;
  }

  #seal(scope: IdempotencyScope, rowKey: string, answer: StoredAnswer): Buffer {
    const plain =
      answer.kind === "response"
        ? Buffer.concat([Buffer.of(1), answer.bytes])
        : Buffer.concat([Buffer.of(2), Buffer.from(answer.reason)]);
    return this.#vault.encrypt(plain, imageContext(scope, rowKey));
  }

  #open(scope: IdempotencyScope, rowKey: string, sealed: Buffer): StoredAnswer {
    const plain = this.#vault.decrypt(sealed, imageContext(scope, rowKey));
    const rest = plain.subarray(1);
    if (plain[0] === 1) return { kind: "response", bytes: rest };
    const reason = [...storedRefusals].find((r) => r === rest.toString());
    if (!reason) throw new Error("unreadable stored answer");
    return { kind: "refusal", reason };
  }
}

interface KeyRow {
  object_id: string;
  fingerprint: Buffer;
  answer: Buffer | null;
  operation: string;
  mine: boolean;
  rowKey: string;
  lockId: string;
}

/** True when the row is about this operation; one without a name is of a release that gave none. */
function isOf(row: KeyRow, scope: IdempotencyScope): boolean {
  return row.operation === scope.operation || row.operation === "";
}

const ownMark = "/own";

/** The row of a key that another operation had first. The mark between the two is no character of a key. */
function ownKey({ operation, key }: IdempotencyScope): string {
  return `${operation}\u0001${key}`;
}

/** The row that a claim took: its lock says which. */
function rowKeyOf(scope: IdempotencyScope, lockId: string): string {
  return lockId.endsWith(ownMark) ? ownKey(scope) : scope.key;
}

function imageContext(scope: IdempotencyScope, rowKey: string): string {
  return `idempotency:${scope.merchantId}:${scope.environment}:${rowKey}`;
}
