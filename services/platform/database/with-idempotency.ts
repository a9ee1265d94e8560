// A request under an idempotency key, from the claim to the stored answer: the same for every operation that takes a
// key.
import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { asFailure, Failure } from "#platform/values/failure.ts";
import type { Sql } from "./database.ts";
import type { IdempotencyKeys, IdempotencyScope } from "./idempotency.ts";

/** What a request works on. */
export interface KeyedWork<R> {
  /** Id of the object that it makes, or that an earlier run with its key began to make. */
  readonly id: string;
  /** The key was claimed before, so an earlier run may have come as far as it liked. */
  readonly isResumed: boolean;
  /** Stores the answer, within the transaction that makes it true; undefined: the request has no key. */
  readonly finish: ((sql: Sql, response: R) => Promise<void>) | undefined;
}

/**
 * Answers what the key was answered before, else what `work` answers; a failure is stored if it is final, and gives the
 * key back otherwise.
 * @param schema of the answer, which has a field `replayed`
 * @param scope undefined: the request has no key
 * @param freshId of the object if the key is new
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
