// checkout.v1.RiskService, in proto order: risk screening for operators.
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import { RiskKind, type RiskService } from "#proto/checkout/v1/risk_pb.ts";
import { createRule, type RiskRulesContext, removeRule, updateRule } from "../risk/rules-cache.ts";
import { type RiskRule, rulesInEffect } from "../rules/risk.ts";
import { decisionsOf, listBlockedDecisions, type StoredDecision } from "../store/risk-decisions.ts";
import { listRules, type StoredRule } from "../store/risk-rules.ts";

const kinds = {
  amount_cap: RiskKind.AMOUNT_CAP,
  velocity: RiskKind.VELOCITY,
  block_list: RiskKind.BLOCK_LIST,
  card_testing: RiskKind.CARD_TESTING,
} as const satisfies { readonly [K in RiskRule["kind"]]: RiskKind };

const kindNames = ["amount_cap", "velocity", "block_list", "card_testing"] as const;

export function riskRpc(context: RiskRulesContext): ServiceImpl<typeof RiskService> {
  const { db } = context;
  return {
    listRules: async ({ merchantId }) => ({ rules: (await listRules(db, [merchantId])).map(toRiskRule) }),
    listEffectiveRules: async ({ merchantId, environment }) => {
      const all = await listRules(db, [merchantId, "*"]);
      const counting = new Set(rulesInEffect(all, environment).map(({ id }) => id));
      return { rules: all.filter(({ id }) => counting.has(id)).map(toRiskRule) };
    },
    createRule: async (request) => {
      const { merchantId, environment, subject, limit, windowSeconds, entries, operator, note } = request;
      const kind = kindNames.find((name) => kinds[name] === request.kind);
      if (!kind) throw invalidField("kind", "is required");
      const rule = { merchantId, environment, kind, subject, limit: Number(limit), windowSeconds };
      const enabled = !request.disabled;
      return { rule: toRiskRule(await createRule(context, { ...rule, entries, enabled, operator, note })) };
    },
    updateRule: async ({ ruleId, limit, windowSeconds, entries, enabled, note, operator }) => {
      const change = {
        operator,
        ...(limit !== undefined && { limit: Number(limit) }),
        ...(windowSeconds !== undefined && { windowSeconds }),
        ...(entries && { entries: entries.values }),
        ...(enabled !== undefined && { enabled }),
        ...(note !== undefined && { note }),
      };
      return { rule: toRiskRule(await updateRule(context, ruleId, change)) };
    },
    deleteRule: async ({ ruleId, operator }) => {
      await removeRule(context, ruleId, operator);
      return {};
    },
    explainDecision: async ({ sessionId }) => {
      const decisions = await decisionsOf(db, sessionId);
      if (decisions.length === 0) throw new Failure("NOT_FOUND");
      return { decisions: decisions.map(toRiskDecision) };
    },
    listBlocked: async (request) => {
      const decisions = await listBlockedDecisions(db, request, request.limit);
      return { decisions: decisions.map(toRiskDecision) };
    },
  };
}

function toRiskRule(rule: StoredRule) {
  const { limit, kind, entries } = rule;
  return { ...messageFields(rule), kind: kinds[kind], limit: BigInt(limit), entries: [...entries] };
}

function toRiskDecision({ results, ...decision }: StoredDecision) {
  return {
    ...messageFields(decision),
    looks: results.map(({ kind, measured, limit, ...rest }) => ({
      ...rest,
      kind: kinds[kind],
      measured: BigInt(measured),
      limit: BigInt(limit),
    })),
  };
}
