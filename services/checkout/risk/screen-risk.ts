// Screens a session at each stage: counts for the rules in effect, evaluates them and stores the decision. A passed
// creation is stored with the session; an opening only when it is blocked, since it is a read.
import type { Database } from "#platform/database/database.ts";
import type { HashKeys } from "#platform/secrets/vault.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { networkOf } from "#platform/values/address-range.ts";
import type { CheckoutMetrics } from "../metrics.ts";
import {
  evaluateRisk,
  isPublicAddress,
  type RiskDecision,
  type RiskFacts,
  type RiskRule,
  type RiskStage,
  rulesOf,
} from "../rules/risk.ts";
import type { NewSession } from "../store/new-sessions.ts";
import { countOfAddress, countOfCards, historyOfEmail, recordAttempts } from "../store/risk-attempts.ts";
import { insertDecision } from "../store/risk-decisions.ts";
import type { Owner } from "../store/session-lists.ts";
import type { RiskRules } from "./rules-cache.ts";

interface RiskContext {
  readonly db: Database;
  readonly log: Log;
  readonly metrics: CheckoutMetrics;
  readonly hashKeys: HashKeys;
  readonly riskRules: RiskRules;
}

type ScreenedSession = Pick<NewSession, "merchantId" | "environment" | "amount" | "currency" | "customerEmail"> & {
  /** `cs_…`, or `pay_…` for a payment without a session. */
  readonly id: string;
};

/** Screens the creation of a session. A block is stored here; the caller stores a pass with the session. */
export async function screenCreation(context: RiskContext, session: ScreenedSession): Promise<RiskDecision> {
  const rules = rulesOf("create", await context.riskRules.inEffect(session));
  const email = session.customerEmail.toLowerCase();
  const counts = new Map<string, number>();
  const [perEmail] = ofKind(rules, "velocity", "email");
  let cards: string[] = [];
  if (email !== "") {
    const history = await historyOfEmail(context.db, session, email, perEmail ?? { windowSeconds: 1, limit: 0 });
    if (perEmail) counts.set(perEmail.id, history.sessions);
    cards = history.cards;
  }
  await countCards(context, session, rules, cards, counts);
  return await decideStage(context, session, "create", rules, { ...emptyFacts(session), email, cards, counts });
}

/** Screens the opening of a session by a buyer. */
export async function screenOpening(
  context: RiskContext,
  session: ScreenedSession,
  address: string,
): Promise<RiskDecision> {
  const rules = rulesOf("open", await context.riskRules.inEffect(session));
  const hashes = addressHashes(context, address);
  const [hash] = hashes;
  if (hash && ofKind(rules, "velocity", "address").length > 0) {
    await recordAttempts(context.db, [
      {
        ...attemptOf(session, hash, ""),
        fact: "opened",
        occurrence: hash.toString("hex"),
      },
    ]);
  }
  const counts = await countAddress(context, session, rules, hashes);
  return await decideStage(context, session, "open", rules, { ...emptyFacts(session), address, counts });
}

/** Screens a failed attempt. @param attempt `failedAttempts` includes it; `isCounted`: it is a decline of the card */
export async function screenAttempt(
  context: RiskContext,
  session: ScreenedSession,
  attempt: {
    readonly address: string;
    readonly card: string;
    readonly failedAttempts: number;
    readonly isCounted: boolean;
  },
): Promise<RiskDecision> {
  const { address, card, failedAttempts, isCounted } = attempt;
  const rules = rulesOf("attempt", await context.riskRules.inEffect(session));
  const hashes = addressHashes(context, address);
  const declined = {
    ...attemptOf(session, hashes[0], card),
    fact: "declined",
    occurrence: String(failedAttempts),
  } as const;
  await recordAttempts(context.db, isCounted ? [declined] : []);
  const counts = await countAddress(context, session, rules, hashes);
  const cards = card === "" ? [] : [card];
  await countCards(context, session, rules, cards, counts);
  return await decideStage(context, session, "attempt", rules, { ...emptyFacts(session), address, cards, counts });
}

async function decideStage(
  context: RiskContext,
  session: ScreenedSession,
  stage: RiskStage,
  rules: readonly RiskRule[],
  facts: RiskFacts,
): Promise<RiskDecision> {
  const decision = evaluateRisk(stage, rules, facts);
  context.metrics.riskDecisions.inc({ stage, decision: decision.blocked ? "blocked" : "passed" });
  if (stage === "attempt" || decision.blocked) await insertDecision(context.db, session, session.id, decision);
  if (decision.blocked) {
    const hits = decision.results.filter(({ hit }) => hit).map(({ ruleId }) => ruleId);
    const { id, merchantId } = session;
    context.log.info({ rules: hits, stage, session_id: id, merchant_id: merchantId }, "blocked by risk screening");
  }
  return decision;
}

async function countAddress(
  context: RiskContext,
  owner: Owner,
  rules: readonly RiskRule[],
  hashes: readonly Buffer[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  if (hashes.length === 0) return counts;
  for (const rule of ofKind(rules, "velocity", "address")) {
    // The count includes this opening, the limit does not.
    counts.set(rule.id, (await countOfAddress(context.db, owner, hashes, "opened", rule)) - 1);
  }
  for (const rule of ofKind(rules, "card_testing", "address")) {
    counts.set(rule.id, await countOfAddress(context.db, owner, hashes, "declined", rule));
  }
  return counts;
}

async function countCards(
  context: RiskContext,
  owner: Owner,
  rules: readonly RiskRule[],
  cards: readonly string[],
  counts: Map<string, number>,
): Promise<void> {
  if (cards.length === 0) return;
  for (const rule of ofKind(rules, "velocity", "card_fingerprint")) {
    counts.set(rule.id, await countOfCards(context.db, owner, cards, rule));
  }
}

function ofKind(rules: readonly RiskRule[], kind: RiskRule["kind"], subject: string): RiskRule[] {
  return rules.filter((rule) => rule.kind === kind && rule.subject === subject);
}

/**
 * The buyer's network under each hash key, so that rules count across a change of keys. The first hash is stored. A
 * network that is not public has no hashes.
 */
function addressHashes({ hashKeys }: RiskContext, address: string): Buffer[] {
  return isPublicAddress(address) ? hashKeys.hashes(`address:${networkOf(address)}`) : [];
}

function attemptOf(session: ScreenedSession, hash: Buffer | undefined, card: string) {
  const { id: sessionId, merchantId, environment, customerEmail } = session;
  return { sessionId, merchantId, environment, email: customerEmail.toLowerCase(), addressHash: hash, card };
}

function emptyFacts({ amount, currency }: ScreenedSession): RiskFacts {
  return { amount, currency, email: "", address: "", cards: [], counts: new Map() };
}
