// Mutants of checkout: the session machine, who completes a session, what ends one, keys, secrets, and risk screening.
import { type Mutant, mutantsOf } from "./mutant.ts";

export const checkout: readonly Mutant[] = [
  ...mutantsOf("services/checkout/rules/session.ts", [
    [
      "capturedAmount: isSilent ? undefined : fact.capturedAmount,",
      "capturedAmount: session.capturedAmount,",
      "what was captured is what the newest news says",
    ],
    [
      'open: { open: "open", processing: "processing", paid: "completed"',
      'open: { open: "open", processing: "completed", paid: "completed"',
      "a session is completed only by a payment",
    ],
    [
      'expired: { open: "final", processing: "final", paid: "completed"',
      'expired: { open: "final", processing: "final", paid: "final"',
      "money that arrived is never refused",
    ],
    [
      'completed: { open: "kept", processing: "kept", paid: "completed", canceled: "kept" }',
      'completed: { open: "kept", processing: "kept", paid: "completed", canceled: "closed" }',
      "a completed session stays completed",
    ],
    ["if (late && !wins)", "if (late)", "money that arrived completes the session however late its news is"],
    ["if (late && !wins)", "if (late && wins && !wins)", "a late fact changes nothing"],
    [
      "return fact.version < session.heardVersion;",
      "return fact.version > session.heardVersion;",
      "versions put news in order",
    ],
    ["fact.version || session.heardVersion", "session.heardVersion", "the newest version is remembered"],
    [
      "late && fact.version > 0n ? paidBefore(session, fact)",
      "late && fact.version < 0n ? paidBefore(session, fact)",
      "a payment's older news does not hide where it stands now",
    ],
    [
      'return fact.version > 0n || fact.at === "now" ||',
      "return fact.version > 0n ||",
      "the processor's own answer reopens a session",
    ],
    [
      "|| fact.failedAttempts !== session.failedAttempts;",
      "|| fact.failedAttempts >= session.failedAttempts;",
      "a session is reopened by a new decline alone",
    ],
    [
      "Math.max(fact.failedAttempts, session.failedAttempts),\n    heardVersion",
      "fact.failedAttempts,\n    heardVersion",
      "declines are never forgotten",
    ],
    [
      "state.failedAttempts >= failedAttemptsMax",
      "state.failedAttempts > failedAttemptsMax",
      "the tenth decline is the last",
    ],
    [
      "session.expiryAsked || session.expiresAt <= now",
      "session.expiresAt <= now",
      "an expiry that was asked for is an expiry",
    ],
  ]),
  ...mutantsOf("services/checkout/rules/risk.ts", [
    ["return cardDeclines.has(code);", "return true;", "only a failure of the card counts as a decline"],
    ["facts.amount > limit", "facts.amount >= limit", "an amount at the cap passes"],
    ["count >= limit", "count > limit", "the count that blocks blocks"],
    ["blocked: looks.some(({ hit }) => hit)", "blocked: looks.every(({ hit }) => hit)", "one rule that hits blocks"],
    [
      '(rule.merchantId === "*" ? 2 : 0)',
      '(rule.merchantId === "*" ? 0 : 2)',
      "a merchant's own rule comes before everybody's",
    ],
    [".filter((rule) => rule.enabled)", "", "a rule that is switched off is not looked at"],
  ]),
  ...mutantsOf("services/checkout/flows/apply-fact.ts", [
    [
      'if (decision.kind === "ignored") return known;',
      'if (decision.kind === "ignored") return session;',
      "who finds a session changed answers it as it is now",
    ],
    [
      'fact = { ...answer, at: answer.at === "now" ? undefined : answer.at };',
      "fact = answer;",
      "an answer that another change overtook is not the latest word",
    ],
    [
      '[SessionOutcome.PROCESSING, "processing"]',
      '[SessionOutcome.PROCESSING, "paid"]',
      "what is processing is not paid",
    ],
    [
      'if (!(error instanceof Failure) || error.reason !== "NOT_FOUND") throw error;',
      "if (!(error instanceof Failure)) throw error;",
      "payments' refusal reaches the buyer as it is",
    ],
  ]),
  ...mutantsOf("services/checkout/flows/confirm-session.ts", [
    [
      'if (session.state.status === "completed") return await replayConfirmation(context, session);',
      'if (session.state.status === "completed") return confirmation(session, session.state.paymentStatus);',
      "payments hears of a confirm that comes after the processor's webhook",
    ],
    [
      'if (isOverdue(session)) return await askPayment(context, session, "cancelIntent");',
      "",
      "an overdue session ends when somebody meets it",
    ],
    [
      'return triesAreOver ? await askPayment(context, session, "cancelIntent") : fact;',
      "return fact;",
      "the tenth decline cancels the intent",
    ],
    [
      'blocked ? await askPayment(context, session, "cancelIntent") : fact',
      "fact",
      "a blocked buyer's intent is canceled",
    ],
    [
      'if (status === "expired" || status === "canceled") throw',
      'if (status === "expired") throw',
      "a session that ended is not confirmed",
    ],
  ]),
  ...mutantsOf("services/checkout/flows/create-session.ts", [
    ["finish(tx, response)]);", "Promise.resolve(finish)]);", "a session commits only with its stored answer"],
    ['if (decision.blocked) throw new Failure("PAYMENT_BLOCKED");', "", "a blocked session makes no intent"],
    [
      "new Date(createdAt.getTime() + request.expiresInSeconds * 1_000)",
      "new Date(Date.now() + request.expiresInSeconds * 1_000)",
      "a retry makes the session with the same times",
    ],
  ]),
  ...mutantsOf("services/checkout/flows/create-payment.ts", [
    ["await finish?.(context.db, response);", "", "a payment's answer is stored under its key"],
    [
      "(isResumed ? resumePayment : payAnew)",
      "(isResumed ? payAnew : payAnew)",
      "a retry is not screened again for a payment that is there",
    ],
    ['if (decision.blocked) throw new Failure("PAYMENT_BLOCKED");', "", "a blocked payment is not made"],
  ]),
  ...mutantsOf("services/checkout/flows/expire-session.ts", [
    [
      "await askExpiry(context.db, session.id, context.outbox.toRows([expiryRequested(session)]));",
      "",
      "an expiry that was asked for is remembered",
    ],
    [
      'return isLive(session.state.status) && cancelMeaning(session, clockNow()) === "expired";',
      'return cancelMeaning(session, clockNow()) === "expired";',
      "only a live session is overdue",
    ],
    [
      'const fact = await askPayment(context, session, "cancelIntent");',
      'const fact = await askPayment(context, session, "verifyIntent");',
      "a session ends by its intent's cancellation",
    ],
  ]),
  ...mutantsOf("services/checkout/flows/resolve-session.ts", [
    [
      "if (isOverdue(stored)) return await withLivingRender(context, await endSession(context, stored));",
      "",
      "nobody is shown the form of a session whose time is over",
    ],
    [
      "(await screenOpening(context, session, address)).blocked",
      "!(await screenOpening(context, session, address))",
      "a blocked address sees no form",
    ],
  ]),
  ...mutantsOf("services/checkout/flows/session-secret.ts", [
    [
      "if (!session || !matches.includes(true)) throw",
      "if (!session) throw",
      "a session opens with its own secret alone",
    ],
    [
      'return session.state.status === "open" && !session.expiryAsked ? openedRender(vault, session) : undefined;',
      "return session.expiryAsked ? undefined : openedRender(vault, session);",
      "only an open session shows its form",
    ],
    ["&& !session.expiryAsked ?", "?", "a session that its merchant has ended shows no form"],
  ]),
  ...mutantsOf("services/checkout/flows/freshen-session.ts", [
    [
      "getTime() < sinceMs",
      "getTime() > sinceMs",
      "a session that a lost event left behind is asked about when it is read",
    ],
  ]),
  ...mutantsOf("services/checkout/jobs/expire-sessions.ts", [
    [
      "if (isOverdue(session) || isExhausted(session.state)) await endSession",
      "if (isOverdue(session)) await endSession",
      "tries that are over cancel the session without any confirm",
    ],
    ["if (outage) throw outage;", "", "the job pauses while payments is away"],
  ]),
  ...mutantsOf("services/checkout/jobs/follow-payments.ts", [
    [
      "const wanted = facts.filter((f) => fresh.has(f.eventId));",
      "const wanted = facts;",
      "an event that comes again is known by its id",
    ],
    [
      "of await changeSessions(tx, changes)",
      "of await changeSessions(context.db, changes)",
      "an event is taken in with its effects or not at all",
    ],
    ["sessions.set(changed.id, changed);", "", "a whole life in one batch moves the session step by step"],
    ['["failed", "open"],', '["failed", "canceled"],', "a declined attempt leaves the session open"],
  ]),
  ...mutantsOf("services/checkout/store/sessions.ts", [
    [
      "where s.id = c.id and s.version = c.version returning",
      "where s.id = c.id returning",
      "a change that was decided on an older session is not written",
    ],
    ["version = s.version + 1,", "version = s.version,", "each change of a session has its version"],
    [
      "join sessions s using (id) order by id for update of s`",
      "join sessions s using (id) order by id`",
      "a session that a batch decides on is held meanwhile",
    ],
    [
      "select e.* from changed, jsonb",
      "select e.* from (select * from changed limit 0) as changed, jsonb",
      "a session's change is announced with it",
    ],
    [
      "then least(s.next_check_at, now())",
      "then s.next_check_at",
      "tries that are over fall due for the sweeper at once",
    ],
    ["set expiry_asked = true,", "set expiry_asked = false,", "that an expiry was asked for is stored"],
    ["limit $1 for update skip locked)", "limit $1)", "two sweepers do not claim the same session"],
    [
      "render = case when c.live then s.render end,",
      "render = s.render,",
      "the processor's secret goes with the session's end",
    ],
  ]),
  ...mutantsOf("services/checkout/store/session-lists.ts", [
    [
      "s.id = $1 and s.merchant_id = $2 and s.environment = $3`",
      "s.id = $1 and $2::text is not null and s.environment = $3`",
      "strangers find no session",
    ],
  ]),
  ...mutantsOf("services/checkout/store/risk-attempts.ts", [
    [
      "address_hash = any($3::bytea[]) and fact = $4\n         and at > now()",
      "address_hash = any($3::bytea[]) and fact = $4\n         and at < now()",
      "attempts of a rule's window count",
    ],
    [
      "select coalesce(max(n), 0)::int as n from unnest",
      "select coalesce(min(n), 0)::int as n from unnest",
      "the card with most attempts counts",
    ],
  ]),
];
