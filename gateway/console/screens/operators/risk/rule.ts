// Adds, edits, turns off or removes one risk rule.
import { Failure } from "#platform/values/failure.ts";
import { RiskKind, type RiskRule } from "#proto/checkout/v1/risk_pb.ts";
import { html } from "../../../../html.ts";
import { paramOf, queryOf } from "../../../http/address.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import type { Problems } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import {
  backTo,
  formatEnvironment,
  noProblems,
  operatorName,
  panel,
  problemBox,
  renderDetails,
  showRefusal,
} from "../../../view/operator-forms.ts";
import { address, renderCopyable } from "../../../view/pieces.ts";
import { facts } from "../../../view/table.ts";
import { moment } from "../../../view/values.ts";
import { formatKind, ownerOf } from "./labels.ts";
import { readRule, ruleForm, shownRule, type TypedRule, typedRule } from "./rule-form.ts";
import { ruleAddress } from "./rules.ts";

const writes = { action: "risk.write" };

export function riskRuleRoutes(context: ConsoleContext): void {
  const { risk } = context.peers;
  operatorForm(context, "/risk/rules", writes, (visit, form) => add(context, visit, form));
  operatorPage(context, "/risk/rules/:ruleId", "risk.read", async (visit) => {
    const rule = await findRule(context, visit);
    return rulePage(visit, rule, shownRule(rule), noProblems);
  });
  operatorForm(context, "/risk/rules/:ruleId", writes, (visit, form) => change(context, visit, form));
  operatorForm(context, "/risk/rules/:ruleId/remove", writes, async (visit) => {
    await risk.deleteRule({ ruleId: paramOf(visit, "ruleId"), operator: operatorName(visit) });
    return { go: address("/risk", { merchant: ownerOf(queryOf(visit).get("merchant") ?? "") }), done: "rule-removed" };
  });
}

async function add(context: ConsoleContext, visit: OperatorVisit, form: Form): Promise<Answer> {
  const merchantId = ownerOf(queryOf(visit).get("merchant") ?? "");
  const typed = typedRule(form);
  const again = async (problems: Problems) => newPage(visit, merchantId, typed, problems);
  const { problems, kind, limit = 0n, ...read } = readRule(visit, typed);
  const all =
    typed.subject === "" ? [...problems, ["subject", textsOf(visit.language).rules.subjectNeeded] as const] : problems;
  if (all.length > 0) return { ...(await again(all)), status: 422 };
  const create = async () => {
    const rule = { merchantId, kind: kind ?? RiskKind.UNSPECIFIED, ...read, limit, note: typed.note };
    await context.peers.risk.createRule({ ...rule, disabled: !typed.enabled, operator: operatorName(visit) });
    return { go: address("/risk", { merchant: merchantId }), done: "rule-saved" };
  };
  return await showRefusal(visit, create, again);
}

async function change(context: ConsoleContext, visit: OperatorVisit, form: Form): Promise<Answer> {
  const rule = await findRule(context, visit);
  // The form does not hold kind, subject and environment.
  const typed = { ...shownRule(rule), ...pickChanges(typedRule(form)) };
  const again = async (problems: Problems) => rulePage(visit, rule, typed, problems);
  const { problems, limit = 0n, windowSeconds = 0, entries = [] } = readRule(visit, typed);
  if (problems.length > 0) return { ...(await again(problems)), status: 422 };
  const save = async () => {
    const measure = rule.kind === RiskKind.BLOCK_LIST ? { entries: { values: entries } } : { limit, windowSeconds };
    const kept = { ruleId: rule.id, enabled: typed.enabled, note: typed.note, operator: operatorName(visit) };
    await context.peers.risk.updateRule({ ...kept, ...measure });
    return { go: ruleAddress(rule), done: "rule-saved" };
  };
  return await showRefusal(visit, save, again);
}

function pickChanges({ limit, window, entries, enabled, note }: TypedRule) {
  return { limit, window, entries, enabled, note };
}

/** @throws Failure NOT_FOUND */
async function findRule({ peers }: ConsoleContext, visit: OperatorVisit): Promise<RiskRule> {
  const { rules } = await peers.risk.listRules({ merchantId: ownerOf(queryOf(visit).get("merchant") ?? "") });
  const rule = rules.find(({ id }) => id === paramOf(visit, "ruleId"));
  if (!rule) throw new Failure("NOT_FOUND");
  return rule;
}

function newPage(visit: OperatorVisit, owner: string, typed: TypedRule, problems: Problems): Page {
  const texts = textsOf(visit.language).rules;
  const action = address("/risk/rules", { merchant: owner });
  return {
    title: texts.newRule,
    body: html`${backTo(address("/risk", { merchant: owner }), texts.risk)}<h1>${texts.newRule}</h1>${problemBox(visit, problems)}
${panel(owner === "*" ? textsOf(visit.language).operatorForms.everyMerchant : owner, ruleForm(visit, { action, rule: typed, isNew: true, problems }))}`,
  };
}

function rulePage(visit: OperatorVisit, rule: RiskRule, typed: TypedRule, problems: Problems): Page {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).rules, textsOf(language).operatorForms];
  const title = `${formatKind(language, rule.kind)}: ${rule.subject}`;
  const removal = postForm(visit, {
    action: address(`/risk/rules/${rule.id}/remove`, { merchant: rule.merchantId }),
    button: texts.removeRule,
    tone: "danger",
  });
  const forms = html`${panel(texts.changeRule, ruleForm(visit, { action: ruleAddress(rule), rule: typed, isNew: false, problems }))}
${renderDetails(texts.removeRule, html`<p>${texts.removeText}</p>${removal}`)}`;
  return {
    title,
    body: html`${backTo(address("/risk", { merchant: rule.merchantId }), texts.risk)}<h1>${title}</h1>${problemBox(visit, problems)}
${panel(
  texts.rule,
  facts([
    ["Id", renderCopyable(language, rule.id)],
    [ownTexts.merchant, rule.merchantId === "*" ? ownTexts.everyMerchant : rule.merchantId],
    [ownTexts.environment, formatEnvironment(language, rule.environment)],
    [ownTexts.by, rule.operator || texts.byOperator],
    [texts.changed, moment(language, rule.updatedAt)],
    [ownTexts.note, rule.note],
  ]),
)}
${visit.may("risk.write") ? forms : ""}`,
  };
}
