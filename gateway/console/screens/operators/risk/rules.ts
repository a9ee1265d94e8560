// The risk rules of one merchant or of all merchants, and the rules in effect for a merchant. A rule can be added,
// edited, turned off or removed.

import { Failure, requireFound } from "#platform/values/failure.ts";
import { RiskKind, type RiskRule } from "#proto/checkout/v1/risk_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { paramOf, queryOf } from "../../../http/address.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import type { Problems } from "../../../view/fields.ts";
import { filterForm, searchInput } from "../../../view/filter-form.ts";
import { postForm } from "../../../view/forms.ts";
import {
  backTo,
  formatEnvironment,
  formPanel,
  noProblems,
  operatorName,
  partLinks,
  problemBox,
  renderDetails,
  showRefusal,
} from "../../../view/operator-forms.ts";
import { addressWith, renderCopyable, toneChip } from "../../../view/pieces.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { countText, dateTimeText } from "../../../view/values.ts";
import { chooseMerchant } from "../merchants/find-merchant.ts";
import {
  emptyRule,
  formatKind,
  formatQuantity,
  ownerOf,
  readRule,
  riskKinds,
  ruleForm,
  shownRule,
  type TypedRule,
  typedRule,
} from "./rule-form.ts";

export function riskRoutes(context: ConsoleContext): void {
  operatorPage(context, "/risk", "risk.read", (visit) => rulesPage(context, visit));
}

async function rulesPage(context: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const { peers } = context;
  const texts = textsOf(language).rules;
  const chosen = await chooseMerchant(context, visit, { path: "/risk", query: queryOf(visit), name: "merchant" });
  const owner = ownerOf(chosen.id);
  const isOne = owner !== "*";
  const effective = (environment: Environment) =>
    isOne ? peers.risk.listEffectiveRules({ merchantId: owner, environment }) : { rules: [] };
  const [{ rules }, sandbox, live] = await Promise.all([
    peers.risk.listRules({ merchantId: owner }),
    effective(Environment.SANDBOX),
    effective(Environment.LIVE),
  ]);
  const added = visit.may("risk.write") ? newRuleLinks(visit, owner) : "";
  const links = [
    [addressWith("/risk/blocked", { merchant: isOne ? owner : "" }), texts.blocked, false],
    ["/risk/decisions", texts.explain, false],
  ] as const;
  return {
    title: texts.risk,
    body: html`<h1>${texts.risk}</h1><p>${texts.riskText}</p>${ownerForm(visit, "/risk", owner)}${chosen.choice}
${partLinks(texts.risk, links)}
${rulesTable(visit, rules, isOne ? texts.noRules : texts.noDefaults)}${added}
${isOne ? html`${renderEffectiveRules(visit, Environment.LIVE, live.rules)}${renderEffectiveRules(visit, Environment.SANDBOX, sandbox.rules)}` : ""}`,
  };
}

/** One form for each kind of rule. */
function newRuleLinks({ language }: OperatorVisit, merchant: string): Html {
  const texts = textsOf(language);
  const links = riskKinds.map(({ name }) => {
    const address = addressWith("/risk/rules/new", { merchant, kind: name });
    return html`<li><a href="${address}">${texts.riskKinds[name]}</a> <span class="muted">${texts.riskKindsAbout[name]}</span></li>`;
  });
  return renderDetails(texts.rules.newRule, html`<ul class="choices">${links}</ul>`);
}

export function ownerForm({ language }: OperatorVisit, path: string, owner: string): Html {
  const texts = textsOf(language).rules;
  const merchant = searchInput({ name: "merchant", label: texts.whoseHint, value: owner === "*" ? "" : owner });
  return filterForm(path, texts.whoseHint, textsOf(language).operatorForms.show, [merchant]);
}

function renderEffectiveRules(visit: OperatorVisit, environment: Environment, rules: readonly RiskRule[]): Html {
  const texts = textsOf(visit.language).rules;
  return html`<h2>${fillText(texts.inEffectFor, { environment: formatEnvironment(visit.language, environment) })}</h2>${rulesTable(visit, rules, texts.noDefaults)}`;
}

function rulesTable(visit: OperatorVisit, rules: readonly RiskRule[], empty: string): Html {
  const { language } = visit;
  const texts = textsOf(language).rules;
  return htmlTable({
    caption: texts.risk,
    rows: rules,
    empty,
    columns: [
      {
        heading: texts.kind,
        cell: (rule) => html`<a href="${ruleAddress(rule)}">${formatKind(language, rule.kind)}</a>`,
      },
      { heading: texts.subject, cell: ({ subject }) => translateCode(language, "riskSubjects", subject) },
      { heading: texts.limit, isNumber: true, cell: (rule) => formatLimit(visit, rule) },
      {
        heading: textsOf(language).operatorForms.environment,
        cell: ({ environment }) => formatEnvironment(language, environment),
      },
      { heading: textsOf(language).operatorForms.merchant, cell: ({ merchantId }) => merchantId },
      {
        heading: texts.enabled,
        cell: ({ enabled }) => (enabled ? toneChip(texts.on, "good") : toneChip(texts.off, "quiet")),
      },
      {
        heading: texts.changed,
        cell: (rule) =>
          html`<span>${rule.operator || texts.byOperator}<br>${dateTimeText(language, rule.updatedAt)}</span>`,
      },
    ],
  });
}

function formatLimit({ language }: OperatorVisit, { kind, subject, limit, windowSeconds, entries }: RiskRule): string {
  if (entries.length > 0)
    return fillText(textsOf(language).rules.entriesCount, { count: countText(language, entries.length) });
  const most = formatQuantity(language, kind, subject, limit);
  return windowSeconds === 0 ? most : `${most} / ${countText(language, windowSeconds)} s`;
}

function ruleAddress({ id, merchantId }: RiskRule): string {
  return addressWith(`/risk/rules/${id}`, { merchant: merchantId });
}

const writes = { action: "risk.write" };

export function riskRuleRoutes(context: ConsoleContext): void {
  const { risk } = context.peers;
  operatorForm(context, "/risk/rules", writes, (visit, form) => add(context, visit, form));
  operatorPage(context, "/risk/rules/new", "risk.write", async (visit) => {
    const kind = riskKinds.find(({ name }) => name === queryOf(visit).get("kind"))?.name;
    if (kind === undefined) throw new Failure("NOT_FOUND");
    const owner = ownerOf(queryOf(visit).get("merchant") ?? "");
    return newPage(visit, owner, { ...emptyRule, kind }, noProblems);
  });
  operatorPage(context, "/risk/rules/:ruleId", "risk.read", async (visit) => {
    const rule = await findRule(context, visit);
    return rulePage(visit, rule, shownRule(rule), noProblems);
  });
  operatorForm(context, "/risk/rules/:ruleId", writes, (visit, form) => change(context, visit, form));
  operatorForm(context, "/risk/rules/:ruleId/remove", writes, async (visit) => {
    await risk.deleteRule({ ruleId: paramOf(visit, "ruleId"), operator: operatorName(visit) });
    return {
      go: addressWith("/risk", { merchant: ownerOf(queryOf(visit).get("merchant") ?? "") }),
      done: "rule-removed",
    };
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
    return { go: addressWith("/risk", { merchant: merchantId }), done: "rule-saved" };
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
  const rule = requireFound(rules.find(({ id }) => id === paramOf(visit, "ruleId")));
  return rule;
}

function newPage(visit: OperatorVisit, owner: string, typed: TypedRule, problems: Problems): Page {
  const texts = textsOf(visit.language).rules;
  const action = addressWith("/risk/rules", { merchant: owner });
  const kind = translateCode(visit.language, "riskKinds", typed.kind);
  const about = translateCode(visit.language, "riskKindsAbout", typed.kind);
  return {
    title: `${texts.newRule}: ${kind}`,
    body: html`${backTo(addressWith("/risk", { merchant: owner }), texts.risk)}<h1>${texts.newRule}: ${kind}</h1><p>${about}</p>${problemBox(visit, problems)}
${formPanel(owner === "*" ? textsOf(visit.language).operatorForms.everyMerchant : owner, ruleForm(visit, { action, rule: typed, isNew: true, problems }))}`,
  };
}

function rulePage(visit: OperatorVisit, rule: RiskRule, typed: TypedRule, problems: Problems): Page {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).rules, textsOf(language).operatorForms];
  const title = `${formatKind(language, rule.kind)}: ${translateCode(language, "riskSubjects", rule.subject)}`;
  const removal = postForm(visit, {
    action: addressWith(`/risk/rules/${rule.id}/remove`, { merchant: rule.merchantId }),
    button: texts.removeRule,
    tone: "danger",
  });
  const forms = html`${formPanel(texts.changeRule, ruleForm(visit, { action: ruleAddress(rule), rule: typed, isNew: false, problems }))}
${renderDetails(texts.removeRule, html`<p>${texts.removeText}</p>${removal}`)}`;
  return {
    title,
    body: html`${backTo(addressWith("/risk", { merchant: rule.merchantId }), texts.risk)}<h1>${title}</h1>${problemBox(visit, problems)}
${formPanel(
  texts.rule,
  factList([
    ["Id", renderCopyable(language, rule.id)],
    [ownTexts.merchant, rule.merchantId === "*" ? ownTexts.everyMerchant : rule.merchantId],
    [ownTexts.environment, formatEnvironment(language, rule.environment)],
    [ownTexts.by, rule.operator || texts.byOperator],
    [texts.changed, dateTimeText(language, rule.updatedAt)],
    [ownTexts.note, rule.note],
  ]),
)}
${visit.may("risk.write") ? forms : ""}`,
  };
}
