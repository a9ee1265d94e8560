// Idempotency keys in the owner's database (docs/contract.md §6). A key of a merchant, environment and operation
// identifies one object. It is claimed with a lease and an object id. Failed work releases the lease and a retry
// continues with the same object. A final answer is stored encrypted and replayed.
import { randomUUID } from "node:crypto";
import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { sameSecret, type Vault } from "#platform/secrets/vault.ts";
import { callContext } from "#platform/values/call-context.ts";
import { asFailure, Failure, type FailureReason } from "#platform/values/failure.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Database, isDuplicate, type Sql } from "./database.ts";

const keepHours = 72;
const sweepMax = 5_000;

export interface IdempotencyScope {
  readonly merchantId: string;
  readonly environment: Environment;
  /** One key in two operations is two keys. */
  readonly operation: string;
  readonly key: string;
  readonly fingerprint: Uint8Array;
}

interface KeyedRequest extends Pick<IdempotencyScope, "merchantId" | "environment"> {
  readonly idempotency?: Pick<IdempotencyScope, "key" | "fingerprint"> | undefined;
}

/** @returns undefined: the request has no key */
export function scopeOf(operation: string, request: KeyedRequest): IdempotencyScope | undefined {
  const { merchantId, environment, idempotency: sent } = request;
  return sent && { merchantId, environment, operation, key: sent.key, fingerprint: sent.fingerprint };
}

/** The right to work under a key until it expires or a later try of the same request takes over. */
export interface KeyLease {
  readonly lockId: string;
  /** Name of the row, which its stored answer is encrypted for. */
  readonly rowName: string;
}

/** An object to work on, or the stored answer. */
export type Claim =
  | { readonly kind: "work"; readonly objectId: string; readonly lease: KeyLease }
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
  "NOT_CAPTURABLE",
  "NOT_CANCELABLE",
  "AMOUNT_TOO_LARGE",
  "DISPUTE_NOT_ANSWERABLE",
]);

export class IdempotencyKeys {
  readonly #db: Database;
  readonly #vault: Vault;
  readonly #leaseSeconds: number;

  /**
   * @param leaseSeconds limit for work under a key; because of the fencing by lock id, exceeding it only repeats work
   */
  constructor(db: Database, vault: Vault, leaseSeconds: number) {
    this.#db = db;
    this.#vault = vault;
    this.#leaseSeconds = leaseSeconds;
  }

  /**
   * Claims the key in its own transaction. A new key gets `objectId`; a released key returns its first object.
   * @throws Failure IDEMPOTENCY_KEY_REUSE (other fingerprint), IDEMPOTENCY_CONFLICT (in progress)
   */
  async claim(scope: IdempotencyScope, objectId: string): Promise<Claim> {
    try {
      return this.#claimed(scope, await this.#claimRow(scope, objectId));
    } catch (error) {
      // Another operation took the row's name between the read and the insert: the next read sees its row.
      if (!isDuplicate(error, "idempotency_keys_pkey")) throw error;
      return this.#claimed(scope, await this.#claimRow(scope, objectId));
    }
  }

  /** Takes a free row: new, released, expired, or held by an earlier try of this request. */
  async #claimRow(scope: IdempotencyScope, objectId: string): Promise<KeyRow> {
    const request = callContext.getStore()?.requestId ?? randomUUID();
    const lockId = `${request}/${randomUUID()}`;
    const isFree = `k.fingerprint = excluded.fingerprint and k.answer is null
      and (coalesce(k.locked_until, '-infinity') < now() or starts_with(k.lock_id, $9))`;
    const [row] = await this.#db.rows<Omit<KeyRow, "lockId">>(
      `insert into idempotency_keys as k (merchant_id, environment, operation, key, fingerprint, object_id, locked_until, lock_id)
       values ($1, $2, $3, ${rowName}, $5, $6, now() + make_interval(secs => $7), $8)
       on conflict on constraint idempotency_keys_of_request do update set
         locked_until = case when ${isFree} then excluded.locked_until else k.locked_until end,
         lock_id = case when ${isFree} then excluded.lock_id else k.lock_id end
       returning key, object_id, fingerprint, answer, lock_id = $8 as mine`,
      [...nameOf(scope), scope.fingerprint, objectId, this.#leaseSeconds, lockId, `${request}/`],
    );
    if (!row) throw new Error("the claim answered no row");
    return { ...row, lockId };
  }

  #claimed(scope: IdempotencyScope, row: KeyRow): Claim {
    if (!sameSecret(row.fingerprint, scope.fingerprint)) throw new Failure("IDEMPOTENCY_KEY_REUSE");
    if (row.answer) return { kind: "replay", answer: this.#open(scope, row.key, row.answer) };
    if (!row.mine) throw new Failure("IDEMPOTENCY_CONFLICT", { retryAfterMs: 1_000 });
    return { kind: "work", objectId: row.object_id, lease: { lockId: row.lockId, rowName: row.key } };
  }

  /**
   * Stores the final answer in the transaction that makes it true.
   * @throws Failure IDEMPOTENCY_CONFLICT when the lease expired and another process holds the key: the transaction must
   * not commit, or that process would find the object without an answer
   */
  async finish(sql: Sql, scope: IdempotencyScope, lease: KeyLease, answer: StoredAnswer): Promise<void> {
    const finished = await sql.rows(
      `update idempotency_keys set answer = $6, locked_until = null
       where ${isRowOfRequest} and lock_id = $5 and answer is null returning key`,
      [...nameOf(scope), lease.lockId, this.#seal(scope, lease.rowName, answer)],
    );
    if (finished.length === 0) throw new Failure("IDEMPOTENCY_CONFLICT", { retryAfterMs: 1_000 });
  }

  /**
   * Restores a key that the database lost, with its answer; without one a retry continues with its object. A key with
   * an answer is unchanged. A key without one was claimed when the backup was taken and now identifies the given
   * object.
   * @returns true when the key was lost
   */
  async restore(sql: Sql, scope: IdempotencyScope, objectId: string, answer?: StoredAnswer): Promise<boolean> {
    const [named] = await sql.rows<{ name: string }>(
      `select coalesce((select key from idempotency_keys where ${isRowOfRequest}), ${rowName}) as name`,
      nameOf(scope),
    );
    const name = named?.name ?? scope.key;
    const [row] = await sql.rows<{ is_new: boolean }>(
      `insert into idempotency_keys as k (merchant_id, environment, operation, key, fingerprint, object_id, answer)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict on constraint idempotency_keys_of_request do update set
         object_id = case when k.answer is null then excluded.object_id else k.object_id end,
         fingerprint = case when k.answer is null then excluded.fingerprint else k.fingerprint end,
         answer = coalesce(k.answer, excluded.answer)
       returning xmax = 0 as is_new`,
      [
        scope.merchantId,
        scope.environment,
        scope.operation,
        name,
        scope.fingerprint,
        objectId,
        answer ? this.#seal(scope, name, answer) : null,
      ],
    );
    return row?.is_new === true;
  }

  /** After a failure: stores it if final, otherwise releases the key for a retry. */
  async settleFailure(scope: IdempotencyScope, lease: KeyLease, failure: Failure): Promise<void> {
    if (storedRefusals.has(failure.reason)) {
      await this.finish(this.#db, scope, lease, { kind: "refusal", reason: failure.reason });
      return;
    }
    const held = [...nameOf(scope), lease.lockId];
    // A rejected body creates no object, so the corrected request may use the same key.
    if (failure.reason === "INVALID_BODY") {
      const isUnanswered = `${isRowOfRequest} and lock_id = $5 and answer is null`;
      await this.#db.rows(`delete from idempotency_keys where ${isUnanswered}`, held);
      return;
    }
    await this.#db.rows(
      `update idempotency_keys set locked_until = null where ${isRowOfRequest} and lock_id = $5`,
      held,
    );
  }

  /** Deletes expired keys. @returns true when more may remain */
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

  #seal(scope: IdempotencyScope, rowName: string, answer: StoredAnswer): Buffer {
    const plain =
      answer.kind === "response"
        ? Buffer.concat([Buffer.of(1), answer.bytes])
        : Buffer.concat([Buffer.of(2), Buffer.from(answer.reason)]);
    return this.#vault.encrypt(plain, imageContext(scope, rowName));
  }

  #open(scope: IdempotencyScope, rowName: string, sealed: Buffer): StoredAnswer {
    const plain = this.#vault.decrypt(sealed, imageContext(scope, rowName));
    const rest = plain.subarray(1);
    if (plain[0] === 1) return { kind: "response", bytes: rest };
    const reason = [...storedRefusals].find((r) => r === rest.toString());
    if (!reason) throw new Error("unreadable stored answer");
    return { kind: "refusal", reason };
  }
}

interface KeyRow {
  key: string;
  object_id: string;
  fingerprint: Buffer;
  answer: Buffer | null;
  mine: boolean;
  lockId: string;
}

/** $1 to $4 of every statement here; the constraint `idempotency_keys_of_request` has the same columns. */
function nameOf({ merchantId, environment, operation, key }: IdempotencyScope) {
  return [merchantId, environment, operation, key];
}

const isRowOfRequest = "(merchant_id, environment, operation, request_key) = ($1, $2, $3, $4)";

/** Row name of a new key in 0.1.0, which looks rows up by it and may run together with this release. */
const rowName = `case when exists (select from idempotency_keys b
    where b.merchant_id = $1 and b.environment = $2 and b.key = $4 and b.operation <> $3)
  then $3::text || chr(1) || $4::text else $4::text end`;

function imageContext(scope: IdempotencyScope, rowName: string): string {
  return `idempotency:${scope.merchantId}:${scope.environment}:${rowName}`;
}

// Runs a request under an idempotency key, from the claim to the stored answer.

interface KeyedWork<R> {
  /** Id of the object to create, or that an earlier run with the key started to create. */
  readonly id: string;
  /** The key was claimed before; an earlier run may have stopped anywhere. */
  readonly isResumed: boolean;
  /** Stores the answer in the transaction that makes it true; undefined when the request has no key. */
  readonly finish: ((sql: Sql, response: R) => Promise<void>) | undefined;
}

/**
 * Returns the stored answer, or else the answer of `work`. A final failure is stored, any other releases the key.
 * @param schema of the answer, which has a field `replayed`
 * @param scope undefined when the request has no key
 * @param freshId id of the object if the key is new
 * @throws Failure of the work; IDEMPOTENCY_KEY_REUSE, IDEMPOTENCY_CONFLICT
 */
export async function withIdempotency<S extends DescMessage>(
  keys: IdempotencyKeys,
  schema: S,
  scope: IdempotencyScope | undefined,
  freshId: string,
  work: (on: KeyedWork<MessageShape<S>>) => Promise<MessageShape<S>>,
): Promise<MessageShape<S>> {
  if (!scope) return await work({ id: freshId, isResumed: false, finish: undefined });
  const claim = await keys.claim(scope, freshId);
  if (claim.kind === "replay") {
    if (claim.answer.kind === "refusal") throw new Failure(claim.answer.reason, { replayed: true });
    return { ...fromBinary(schema, claim.answer.bytes), replayed: true };
  }
  const { objectId: id, lease } = claim;
  try {
    const finish = (sql: Sql, response: MessageShape<S>) =>
      keys.finish(sql, scope, lease, { kind: "response", bytes: toBinary(schema, response) });
    return await work({ id, isResumed: id !== freshId, finish });
  } catch (error) {
    const failure = asFailure(error);
    await keys.settleFailure(scope, lease, failure);
    throw failure;
  }
}
