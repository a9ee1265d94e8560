// Caches the rules in effect for a merchant, so that screening needs no query, and changes rules for operators. A
// change and the event that clears the caches of all processes are one transaction.
import { LRUCache } from "lru-cache";
import { type Database, isDuplicate, type Tx } from "#platform/database/database.ts";
import type { Announcement, Outbox } from "#platform/events/outbox.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { type RiskRule, rulesInEffect } from "../rules/risk.ts";
import { normalizeEntry, ruleViolations } from "../rules/risk-rule.ts";
import { deleteRule, listRules, lockRule, type StoredRule, saveRule } from "../store/risk-rules.ts";
import type { Owner } from "../store/session-lists.ts";

// The event clears the cache immediately; this limits the effect of a lost event.
const cacheMs = 10_000;
const cacheMax = 10_000;

const newCache = () => new LRUCache<string, readonly RiskRule[]>({ max: cacheMax, ttl: cacheMs });

export class RiskRules {
  readonly #db: Database;
  #cached = newCache();

  constructor(db: Database) {
    this.#db = db;
  }

  async inEffect({ merchantId, environment }: Owner): Promise<readonly RiskRule[]> {
    const key = `${merchantId}/${environment}`;
    const cached = this.#cached;
    const hit = cached.get(key);
    if (hit) return hit;
    const rules = rulesInEffect(await listRules(this.#db, [merchantId, "*"]), environment);
    cached.set(key, rules);
    return rules;
  }

  forget(): void {
    // A read in progress writes to the old cache.
    this.#cached = newCache();
  }
}

export interface RiskRulesContext {
  readonly db: Database;
  readonly outbox: Outbox;
  readonly riskRules: RiskRules;
}

type NewRule = Omit<StoredRule, "id" | "updatedAt">;
type RuleChange = Partial<Pick<StoredRule, "limit" | "windowSeconds" | "entries" | "enabled" | "note">> & {
  readonly operator: string;
};

/** @throws Failure INVALID_BODY. */
export async function createRule(context: RiskRulesContext, input: NewRule): Promise<StoredRule> {
  try {
    return await changeRule(context, "created", (tx) => writeRule(tx, { ...input, id: newId("riskRule") }));
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw invalidField("subject", "has a rule of this kind for this merchant and environment; update that one");
  }
}

/** @throws Failure NOT_FOUND, INVALID_BODY. */
export async function updateRule(context: RiskRulesContext, id: string, change: RuleChange): Promise<StoredRule> {
  return await changeRule(
    context,
    "updated",
    async (tx) => await writeRule(tx, { ...(await lockExistingRule(tx, id)), ...change }),
  );
}

/** @throws Failure NOT_FOUND. */
export async function removeRule(context: RiskRulesContext, id: string, operator: string): Promise<void> {
  await changeRule(context, "removed", async (tx) => {
    const rule = await lockExistingRule(tx, id);
    await deleteRule(tx, id);
    return { ...rule, operator };
  });
}

async function lockExistingRule(tx: Tx, id: string): Promise<StoredRule> {
  const rule = requireFound(await lockRule(tx, id));
  return rule;
}

async function writeRule(tx: Tx, input: Omit<StoredRule, "updatedAt">): Promise<StoredRule> {
  const entries = [...new Set(input.entries.map((entry) => normalizeEntry(input.subject, entry)))];
  const rule = { ...input, entries };
  const violations = ruleViolations(rule);
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  return await saveRule(tx, rule);
}

type Action = "created" | "updated" | "removed";

async function changeRule(
  context: RiskRulesContext,
  act: Action,
  work: (tx: Tx) => Promise<StoredRule>,
): Promise<StoredRule> {
  const changed = await context.db.transaction(async (tx) => {
    const rule = await work(tx);
    await context.outbox.append(tx, [ruleChangedEvent(rule, act)]);
    return rule;
  });
  context.riskRules.forget();
  context.outbox.wake();
  return changed;
}

/** Internal event; an empty merchant_id means all merchants. Entries of block lists are buyers' data and stay out. */
function ruleChangedEvent(rule: StoredRule, act: Action): Announcement {
  const { kind, subject, limit, windowSeconds, operator } = rule;
  return {
    type: "risk_rule.changed",
    merchantId: rule.merchantId === "*" ? "" : rule.merchantId,
    environment: rule.environment,
    objectId: rule.id,
    status: rule.enabled ? "enabled" : "disabled",
    at: clockNow(),
    attributes: { act, kind, subject, limit: String(limit), window_seconds: String(windowSeconds), operator },
  };
}
