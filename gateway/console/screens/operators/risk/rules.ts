// The risk rules of one merchant or of all merchants, and the rules in effect for a merchant.
import type { RiskRule } from "#proto/checkout/v1/risk_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { operatorPage } from "../../../routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { filterForm, searchInput } from "../../../view/filter-form.ts";
import { formatEnvironment, partLinks, renderDetails } from "../../../view/operator-forms.ts";
import { address, chip } from "../../../view/pieces.ts";
import { table } from "../../../view/table.ts";
import { count, moment } from "../../../view/values.ts";
import { formatKind, formatQuantity, ownerOf } from "./labels.ts";
import { emptyRule, ruleForm } from "./rule-form.ts";

export function riskRoutes(context: ConsoleContext): void {
  operatorPage(context, "/risk", "risk.read", (visit) => rulesPage(context, visit));
}

async function rulesPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).rules;
  const owner = ownerOf(queryOf(visit).get("merchant") ?? "");
  const isOne = owner !== "*";
  const effective = (environment: Environment) =>
    isOne ? peers.risk.listEffectiveRules({ merchantId: owner, environment }) : { rules: [] };
  const [{ rules }, sandbox, live] = await Promise.all([
    peers.risk.listRules({ merchantId: owner }),
    effective(Environment.SANDBOX),
    effective(Environment.LIVE),
  ]);
  const added = visit.may("risk.write")
    ? renderDetails(
        texts.newRule,
        ruleForm(visit, { action: address("/risk/rules", { merchant: owner }), rule: emptyRule, isNew: true }),
      )
    : "";
  const links = [
    [address("/risk/blocked", { merchant: isOne ? owner : "" }), texts.blocked, false],
    ["/risk/decisions", texts.explain, false],
  ] as const;
  return {
    title: texts.risk,
    body: html`<h1>${texts.risk}</h1><p>${texts.riskText}</p>${ownerForm(visit, "/risk", owner)}
${partLinks(texts.risk, links)}
${rulesTable(visit, rules, isOne ? texts.noRules : texts.noDefaults)}${added}
${isOne ? html`${renderEffectiveRules(visit, Environment.LIVE, live.rules)}${renderEffectiveRules(visit, Environment.SANDBOX, sandbox.rules)}` : ""}`,
  };
}

/** Chooses the merchant whose rules or fees are shown. */
export function ownerForm({ language }: OperatorVisit, path: string, owner: string): Html {
  const texts = textsOf(language).rules;
  const merchant = searchInput({ name: "merchant", label: texts.whoseHint, value: owner === "*" ? "" : owner });
  return filterForm(path, texts.whoseHint, textsOf(language).operatorForms.show, [merchant]);
}

function renderEffectiveRules(visit: OperatorVisit, environment: Environment, rules: readonly RiskRule[]): Html {
  const texts = textsOf(visit.language).rules;
  return html`<h2>${fill(texts.inEffectFor, { environment: formatEnvironment(visit.language, environment) })}</h2>${rulesTable(visit, rules, texts.noDefaults)}`;
}

function rulesTable(visit: OperatorVisit, rules: readonly RiskRule[], empty: string): Html {
  const { language } = visit;
  const texts = textsOf(language).rules;
  return table({
    caption: texts.risk,
    rows: rules,
    empty,
    columns: [
      {
        heading: texts.kind,
        cell: (rule) => html`<a href="${ruleAddress(rule)}">${formatKind(language, rule.kind)}</a>`,
      },
      { heading: texts.subject, cell: ({ subject }) => html`<code>${subject}</code>` },
      { heading: texts.limit, isNumber: true, cell: (rule) => formatLimit(visit, rule) },
      {
        heading: textsOf(language).operatorForms.environment,
        cell: ({ environment }) => formatEnvironment(language, environment),
      },
      { heading: textsOf(language).operatorForms.merchant, cell: ({ merchantId }) => merchantId },
      { heading: texts.enabled, cell: ({ enabled }) => (enabled ? chip(texts.on, "good") : chip(texts.off, "quiet")) },
      {
        heading: texts.changed,
        cell: (rule) => html`<span>${rule.operator || texts.byOperator}<br>${moment(language, rule.updatedAt)}</span>`,
      },
    ],
  });
}

function formatLimit({ language }: OperatorVisit, { kind, subject, limit, windowSeconds, entries }: RiskRule): string {
  if (entries.length > 0) return fill(textsOf(language).rules.entriesCount, { count: count(language, entries.length) });
  const most = formatQuantity(language, kind, subject, limit);
  return windowSeconds === 0 ? most : `${most} / ${count(language, windowSeconds)} s`;
}

export function ruleAddress({ id, merchantId }: RiskRule): string {
  return address(`/risk/rules/${id}`, { merchant: merchantId });
}
