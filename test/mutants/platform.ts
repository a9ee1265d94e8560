// Mutants of what the money paths stand on: idempotency keys, outbox, inbox, ids and the clock.
import { type Mutant, mutantsOf } from "./mutant.ts";

export const platform: readonly Mutant[] = [
  ...mutantsOf("services/platform/database/database.ts", [
    ["work: boundHere(work)", "work", "the events of work in a shared transaction tell of their own call"],
    [
      "if (this.#isWriting) await this.#begun;",
      "",
      "nothing is written on a connection of which it is not sure that its transaction has begun",
    ],
    ["await this.#begun;\n    this.#isOver", "this.#isOver", "a transaction that has not begun answers nobody"],
    ['if (this.#isOver) throw new Error("the transaction is over");', "", "what is said after the end is not done"],
    ['if (command !== "COMMIT") throw', "if (command === undefined) throw", "what was rolled back is not told as done"],
  ]),
  ...mutantsOf("services/platform/database/shared-transaction.ts", [
    [
      "error instanceof WorkFailed || isRefused(error)",
      "isRefused(error)",
      "work that cannot be done does not take others with it",
    ],
    ["const shared = new SharedTx(tx);", "const shared = tx;", "what works say together is one statement"],
  ]),
  ...mutantsOf("services/platform/database/batch.ts", [
    ["taken.has(key)", "false", "two works on one object never share a transaction"],
    [
      "batch.length > 1 && this.#rules.isOfOne(error)",
      "false",
      "what one row of a statement is refused for, the others do not meet",
    ],
    ["batch.length > 1 && this.#rules.isOfOne(error)", "batch.length > 1", "what may have been done is not said again"],
    [
      "if (this.#underWay !== turn) return;",
      "",
      "a batch that others went past does not begin a second one beside theirs",
    ],
    ["callContext.exit(() => this.#begin())", "this.#begin()", "a statement for many is a part of nobody's trace"],
  ]),
  ...mutantsOf("services/platform/database/idempotency.ts", [
    [
      'if (!sameSecret(row.fingerprint, scope.fingerprint)) throw new Failure("IDEMPOTENCY_KEY_REUSE");',
      "",
      "a key stands for its first request alone",
    ],
    [
      'if (!row.mine) throw new Failure("IDEMPOTENCY_CONFLICT", { retryAfterMs: 1_000 });',
      "",
      "one request works under a key at a time",
    ],
    ["(coalesce(k.locked_until, '-infinity') < now() or", "(true or", "a lease is respected"],
    [
      "or starts_with(k.lock_id, $9))",
      "or (starts_with(k.lock_id, $9) and false))",
      "a try of the same request has the key at once",
    ],
    ["b.key = $4 and b.operation <> $3)", "b.key = $4 and b.operation = $3)", "one key of two operations is two keys"],
    [
      "if (finished.length === 0) throw",
      "if (finished.length > 1) throw",
      "a run whose lease was taken over leaves nothing behind",
    ],
    [
      'if (row.answer) return { kind: "replay"',
      'if (row.answer && row.mine) return { kind: "replay"',
      "a stored answer is given again",
    ],
    ['"AMOUNT_TOO_LARGE",', "", "a final refusal is stored"],
    ['"PAYMENT_BLOCKED",', '"PAYMENT_BLOCKED",\n  "CONNECTOR_ERROR",', "what may be tried again is not stored"],
    [
      "update idempotency_keys set locked_until = null where",
      "update idempotency_keys set locked_until = locked_until where",
      "a request that failed gives its key back",
    ],
    [
      'if (failure.reason === "INVALID_BODY") {',
      'if (failure.reason === "INTERNAL_ERROR") {',
      "a corrected request may have the same key",
    ],
    [
      "returning key, object_id, fingerprint, answer,",
      "returning key, $6::text as object_id, fingerprint, answer,",
      "a retry works on the object of the first try",
    ],
  ]),
  ...mutantsOf("services/platform/operate/recovery.ts", [
    [
      "sources.db.onUnknownServer = () => void recovery.#lookNow();",
      "sources.db.onUnknownServer = () => {};",
      "who is refused on another server has the service look at once",
    ],
    [
      "const isLast = first === from || unknown.length === 0;",
      "const isLast = true;",
      "every lost event is found, however many there are",
    ],
    ["if (bus.connection !== this.#comparedOn) await this.look();", "", "the relay publishes after the comparison"],
    [
      "if (connection !== this.#connection || surroundings !== this.#surroundings) {",
      "if (surroundings !== this.#surroundings) {",
      "a new connection to the broker has the database compared",
    ],
    [
      "if (!isSame && isOtherServer(fence, server)) return undefined;",
      "",
      "another stream says nothing about another server",
    ],
  ]),
  ...mutantsOf("services/platform/events/stream-record.ts", [
    [
      "where outbox.seq = sent.seq and outbox.event_id = sent.event_id and",
      "where outbox.seq = sent.seq and",
      "an acknowledgement marks only the event that it is for",
    ],
  ]),
  ...mutantsOf("services/platform/database/with-idempotency.ts", [
    [
      "await keys.claim(scope, freshId)",
      "await keys.claim({ ...scope, fingerprint: Buffer.alloc(32) }, freshId)",
      "another request under the same key is refused",
    ],
    [
      "const { objectId: id, lease } = claim;",
      "const { lease } = claim, id = freshId;",
      "a retry goes on with the same object",
    ],
    ["isResumed: id !== freshId", "isResumed: false", "a retry is not screened again for what is there"],
    [
      "throw new Failure(claim.answer.reason, { replayed: true });",
      'throw new Failure("IDEMPOTENCY_CONFLICT");',
      "a stored refusal is given again",
    ],
    ["await keys.settleFailure(scope, lease, failure);", "", "a request that failed gives its key back"],
  ]),
  ...mutantsOf("services/platform/events/outbox.ts", [
    [
      "[{ seq, eventId, ...result.value }] : [];",
      "[{ seq, eventId, ...result.value }] : [{ seq, eventId, place: Number(lastSeq), isRepeat: true }];",
      "an event counts as published when the stream has it",
    ],
    [
      "where published_at is null order by seq limit $1`",
      "where published_at is null order by seq desc limit $1`",
      "events are published in their order",
    ],
    ["if (failed) throw failed.reason;", "", "a broker that is away is noticed"],
    [
      "where published_at < now() - make_interval(days => $1)",
      "where created_at < now() - make_interval(days => $1)",
      "an event that was not published is never deleted",
    ],
    ["rows.ids.push(id);", 'rows.ids.push(newId("event"));', "an event has one id in the row and in the body"],
  ]),
  ...mutantsOf("services/platform/events/event-bus.ts", [
    ["if (ack.seq === 0) throw", "if (ack.seq === -1) throw", "what the stream did not store is not published"],
  ]),
  ...mutantsOf("services/platform/events/inbox.ts", [
    [
      "on conflict do nothing returning event_id`",
      "on conflict (consumer, event_id) do update set event_id = excluded.event_id returning event_id`",
      "an event that was taken in is not new",
    ],
    [
      "received_at < now() - make_interval(days => $1)",
      "received_at < now() - make_interval(secs => $1)",
      "an event is remembered as long as the stream may repeat it",
    ],
  ]),
  ...mutantsOf("services/platform/values/id.ts", [
    ["last.random += 1n;", "last.random += 0n;", "no two objects have one id"],
    [
      "const isRebased = last.ms - nowMs > aheadMsMax;",
      "const isRebased = false;",
      "an id's time does not run ahead of the clock",
    ],
    [
      "if (nowMs > last.ms || isRebased) {",
      "if (nowMs >= last.ms || isRebased) {",
      "ids of one process ascend within a millisecond",
    ],
    ["ms = ms * 32 +", "ms = ms * 31 +", "an id tells when its object was made"],
    ["randomHex(10)}`))", "randomHex(4)}`))", "who has one secret id does not know the next"],
  ]),
  ...mutantsOf("services/platform/values/clock.ts", [
    [
      "return clockMs + (nowMs - atMs);",
      "return clockMs - (nowMs - atMs);",
      "time goes forward between two looks at the database",
    ],
    ["  state.reading = next;", "  state.reading ??= next;", "a step of the database's clock is followed"],
  ]),
  ...mutantsOf("services/platform/database/sync-clock.ts", [
    ["answered - asked > roundTripMsMax", "answered - asked > 0", "a quick answer of the database sets the clock"],
    [
      "if (!row || (isClockSet() && answered - asked > roundTripMsMax)) return;",
      "if (!row) return;",
      "a slow answer of the database does not move the clock",
    ],
    ["clockMs: Number(row.ms)", "clockMs: Date.now()", "times come from the database's clock"],
    ["Math.abs(stepped) > stepMs", "stepped > stepMs", "a step back of the database's clock is told too"],
  ]),
  ...mutantsOf("services/platform/values/time-budget.ts", [
    ["left - hopReserveMs", "left", "who calls another keeps a reserve to answer with"],
    [
      "remainingMs(Number.MAX_SAFE_INTEGER) - settleReserveMs",
      "remainingMs(Number.MAX_SAFE_INTEGER)",
      "what a processor answered late is still settled and told",
    ],
    ["share < worthwhileMs ? 0 : share", "share < worthwhileMs ? 1 : share", "no call begins without time for it"],
    ["Math.min(limitMs, left)", "Math.max(limitMs, left)", "a call to a processor ends within its limit"],
  ]),
];
