// Risk screening (docs/contract.md §5: payment_blocked): selects a merchant's rules and evaluates them. Pure; the
// caller supplies the counts. Card checks are the processor's task.
import ipaddr from "ipaddr.js";

export type RiskKind = "amount_cap" | "velocity" | "block_list" | "card_testing";
/** A merchant creates a session, a buyer opens it, or an attempt was declined. */
export type RiskStage = "create" | "open" | "attempt";

export interface RiskRule {
  readonly id: string;
  /** `*`: every merchant. */
  readonly merchantId: string;
  /** 0: both. */
  readonly environment: number;
  readonly kind: RiskKind;
  /** A currency, `email`, `domain`, `address` or `card_fingerprint`. */
  readonly subject: string;
  /** Minor units, or the blocking count; 0 for a block list. */
  readonly limit: number;
  readonly windowSeconds: number;
  readonly entries: readonly string[];
  readonly enabled: boolean;
}

export interface RiskFacts {
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
  /** Lower case; empty: not given. */
  readonly email: string;
  /** The buyer's IP address; empty: unknown. */
  readonly address: string;
  /** Fingerprints of the buyer's known cards. */
  readonly cards: readonly string[];
  /** Counts of rules with a window, by rule id. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Result of an evaluated rule. */
export interface RuleResult {
  readonly ruleId: string;
  readonly kind: RiskKind;
  readonly subject: string;
  readonly measured: number;
  readonly limit: number;
  readonly hit: boolean;
}

export interface RiskDecision {
  readonly stage: RiskStage;
  readonly blocked: boolean;
  readonly results: readonly RuleResult[];
}

const subjectsOf: { readonly [S in RiskStage]: readonly string[] } = {
  create: [
    "velocity email",
    "velocity card_fingerprint",
    "block_list email",
    "block_list domain",
    "block_list card_fingerprint",
  ],
  open: ["velocity address", "block_list address", "card_testing address"],
  attempt: ["velocity card_fingerprint", "block_list address", "block_list card_fingerprint", "card_testing address"],
};

/**
 * Selects one rule per kind and subject: the merchant's before the default, one for the environment before one for
 * both. A disabled rule hides the others. Block lists are combined.
 */
export function rulesInEffect(rules: readonly RiskRule[], environment: number): RiskRule[] {
  const fitting = rules.filter((rule) => rule.environment === environment || rule.environment === 0);
  const rank = (rule: RiskRule) => (rule.merchantId === "*" ? 2 : 0) + (rule.environment === 0 ? 1 : 0);
  const first = new Map<string, RiskRule>();
  for (const rule of fitting.toSorted((a, b) => rank(a) - rank(b))) {
    const key = rule.kind === "block_list" ? rule.id : `${rule.kind} ${rule.subject}`;
    if (!first.has(key)) first.set(key, rule);
  }
  return [...first.values()].filter((rule) => rule.enabled);
}

/** The rules that apply in the stage. */
export function rulesOf(stage: RiskStage, rules: readonly RiskRule[]): RiskRule[] {
  return rules.filter(
    (rule) =>
      subjectsOf[stage].includes(`${rule.kind} ${rule.subject}`) || (rule.kind === "amount_cap" && stage === "create"),
  );
}

/** Evaluates the stage's rules. A rule without its facts gives no result. */
export function evaluateRisk(stage: RiskStage, rules: readonly RiskRule[], facts: RiskFacts): RiskDecision {
  const results = rulesOf(stage, rules).flatMap((rule) => evaluateRule(rule, facts) ?? []);
  return { stage, blocked: results.some(({ hit }) => hit), results };
}

// These reveal to a card tester whether a card is real. Failed 3-D Secure, insufficient funds, outages and returned
// debits happen to honest buyers.
const cardDeclines: ReadonlySet<string> = new Set([
  "card_declined",
  "incorrect_cvc",
  "incorrect_number",
  "expired_card",
  "lost_or_stolen",
  "blocked",
]);

/** True for a failure that rules count as a decline. @param code docs/contract.md §5 */
export function isCardDecline(code: string): boolean {
  return cardDeclines.has(code);
}

/** True for a public address. A private one belongs to a proxy, and counting it would block all buyers behind it. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "unicast";
}

function evaluateRule(rule: RiskRule, facts: RiskFacts): RuleResult | undefined {
  const { id: ruleId, kind, subject, limit } = rule;
  const seen = (measured: number, hit: boolean): RuleResult => ({ ruleId, kind, subject, measured, limit, hit });
  if (kind === "amount_cap") {
    return subject === facts.currency ? seen(Number(facts.amount), facts.amount > limit) : undefined;
  }
  if (kind === "block_list") {
    const listed = isListed(rule, facts);
    return listed === undefined ? undefined : seen(listed ? 1 : 0, listed);
  }
  const count = facts.counts.get(ruleId);
  return count === undefined ? undefined : seen(count, count >= limit);
}

/** undefined: the fact is unknown. */
function isListed({ subject, entries }: RiskRule, { email, address, cards }: RiskFacts): boolean | undefined {
  if (subject === "card_fingerprint") return cards.length === 0 ? undefined : cards.some((c) => entries.includes(c));
  if (subject === "address") return ipaddr.isValid(address) ? entries.some((e) => isWithin(address, e)) : undefined;
  if (email === "") return undefined;
  if (subject === "email") return entries.includes(email);
  const domain = email.slice(email.lastIndexOf("@") + 1);
  return entries.some((entry) => domain === entry || domain.endsWith(`.${entry}`));
}

/** @param network an address or CIDR */
function isWithin(address: string, network: string): boolean {
  const one = ipaddr.process(address);
  if (!network.includes("/")) return ipaddr.process(network).toString() === one.toString();
  const [base, bits] = ipaddr.parseCIDR(network);
  return base.kind() === one.kind() && one.match(base, bits);
}
