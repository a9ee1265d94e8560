// Routing between a merchant's accounts: the rules with a preview, and the forms that change them. A change redirects
// money, so it needs fresh proof; it replaces the version that the page showed.
import { currencyExponent } from "#platform/values/money.ts";
import type { Connector, Routing, RoutingRule } from "#proto/merchant/v1/merchant_pb.ts";
import type { RoutingPreview } from "#proto/payments/v1/payments_pb.ts";
import { retriableCodes } from "../../../../services/public-json/payment.ts";
import { type Html, html } from "../../../html.ts";
import { queryOf } from "../../http/address.ts";
import { type Form, unlessRefused } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { translateCode } from "../../texts/labels.ts";
import { fillText, textsOf } from "../../texts/texts.ts";
import { choiceField, hiddenField, type Problems, problemSummary, selectField, textFields } from "../../view/fields.ts";
import { filterForm, filterInput } from "../../view/filter-form.ts";
import { postForm } from "../../view/forms.ts";
import { unlessAway } from "../../view/section.ts";
import { factList, htmlTable } from "../../view/table.ts";
import { minorUnits, moneyText } from "../../view/values.ts";

export function routingRoutes(context: ConsoleContext): void {
  merchantPage(context, "/processors/routing", "connectors.write", (visit) => editPage(context, visit));
  merchantForm(context, "/processors/routing", { action: "connectors.write", proof: () => true }, (visit, form) =>
    change(context, visit, form),
  );
}

/** Rules, outage and preview, for the page of the accounts. */
export async function routingPanel(
  { peers }: ConsoleContext,
  visit: MerchantVisit,
  connectors: readonly Connector[],
  currency: string,
): Promise<Html> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).routing;
  const { routing } = await peers.connectors.getRouting({ merchantId, environment });
  const query = queryOf(visit);
  const asked = { amount: query.get("amount") ?? "25.00", currency: (query.get("currency") ?? currency).toUpperCase() };
  const amount = currencyExponent(asked.currency) === undefined ? undefined : minorUnits(asked.amount, asked.currency);
  const previews = amount
    ? await readPreviews(peers, { merchantId, environment, amount, currency: asked.currency })
    : [];
  const declines = (routing?.declineCodes ?? []).map((code) => translateCode(language, "failures", code));
  const change = visit.may("connectors.write")
    ? html`<p><a class="button secondary" href="${base}/processors/routing">${texts.change}</a></p>`
    : "";
  return html`<section class="panel"><h2>${texts.title}</h2>${ruleTable(visit, connectors, routing?.rules ?? [])}
${factList([
  [texts.onOutage, routing?.onOutage === "next" ? texts.next : texts.stop],
  [texts.onDecline, declines.join(", ")],
])}${change}
<h3>${texts.preview}</h3>${filterForm(`${base}/processors`, texts.preview, texts.show, [
    filterInput({ name: "amount", label: texts.amount, value: asked.amount, type: "text", maxlength: 16 }),
    filterInput({ name: "currency", label: texts.currency, value: asked.currency, type: "text", maxlength: 3 }),
  ])}<ul>${previews.map((each) => html`<li>${previewText(visit, connectors, each)}</li>`)}</ul>${previews.length === 0 ? html`<p class="muted">${texts.noPreview}</p>` : ""}</section>`;
}

/** Empty during an outage, or where no account would take the order. */
async function readPreviews(
  { payments }: ConsoleContext["peers"],
  order: Parameters<ConsoleContext["peers"]["payments"]["previewRouting"]>[0],
): Promise<readonly RoutingPreview[]> {
  const call = () => unlessRefused(payments.previewRouting(order), "NO_CONNECTOR", "FORBIDDEN", "INVALID_BODY");
  return (await unlessAway(call))?.value?.previews ?? [];
}

function previewText({ language }: MerchantVisit, connectors: readonly Connector[], preview: RoutingPreview): string {
  const texts = textsOf(language).routing;
  const { connectorId, share, routing } = preview;
  const why = routing && routing.rule > 0 ? fillText(texts.byRule, { rule: routing.rule }) : texts.byPrimary;
  const account = accountName(language, connectors, connectorId);
  return share === 100 ? `${account} (${why})` : `${share} %: ${account} (${why})`;
}

function accountName(language: MerchantVisit["language"], connectors: readonly Connector[], id: string): string {
  const account = connectors.find((each) => each.id === id);
  return account ? `${translateCode(language, "processorNames", account.connector)} ${account.externalAccountId}` : id;
}

function ruleTable(
  visit: MerchantVisit,
  connectors: readonly Connector[],
  rules: readonly RoutingRule[],
  remove?: (position: number) => Html,
): Html {
  const { language } = visit;
  const texts = textsOf(language).routing;
  const rows = rules.map((rule, i) => ({ rule, position: i + 1 }));
  return htmlTable({
    caption: texts.title,
    rows,
    empty: texts.none,
    columns: [
      { heading: texts.rule, cell: ({ position }) => String(position) },
      { heading: texts.when, cell: ({ rule }) => conditionText(visit, rule) },
      {
        heading: texts.use,
        cell: ({ rule }) => rule.use.map((id) => accountName(language, connectors, id)).join(" → "),
      },
      { heading: texts.share, cell: ({ rule }) => (rule.share === 0 ? texts.rest : `${rule.share} %`) },
      ...(remove ? [{ heading: "", cell: ({ position }: { position: number }) => remove(position) }] : []),
    ],
  });
}

function conditionText({ language }: MerchantVisit, rule: RoutingRule): string {
  const texts = textsOf(language).routing;
  const { currency, amountMin, amountMax, captureMethod } = rule;
  const amountText = (amount: bigint) => (currency === "" ? String(amount) : moneyText(language, amount, currency));
  const parts = [
    currency,
    amountMin > 0n ? fillText(texts.from, { amount: amountText(amountMin) }) : "",
    amountMax > 0n ? fillText(texts.upTo, { amount: amountText(amountMax) }) : "",
    captureMethod === "" ? "" : texts[captureMethod === "manual" ? "manual" : "automatic"],
  ].filter((part) => part !== "");
  return parts.length === 0 ? texts.always : parts.join(", ");
}

const emptyRule = {
  currency: "",
  amount_min: "",
  amount_max: "",
  capture_method: "",
  use: "",
  fallback: "",
  share: "",
};

async function editPage(
  { peers }: ConsoleContext,
  visit: MerchantVisit,
  typed: typeof emptyRule = emptyRule,
  problems: Problems = [],
): Promise<Page> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).routing;
  const [{ routing }, { connectors }] = await Promise.all([
    peers.connectors.getRouting({ merchantId, environment }),
    peers.connectors.listConnectors({ merchantId, environment }),
  ]);
  const version = hiddenField("version", String(routing?.version ?? 0));
  const formOf = (what: string) => [version, hiddenField("do", what)];
  const remove = (position: number) =>
    postForm(visit, {
      ...{ fields: [...formOf("remove"), hiddenField("position", String(position))], layout: "row" },
      ...{ button: texts.remove, label: fillText(texts.removeRule, { rule: position }), tone: "secondary" },
    });
  const outage = choiceField({
    ...{ name: "on_outage", label: texts.onOutage, one: true, values: [routing?.onOutage ?? "stop"] },
    choices: (["next", "stop"] as const).map((value) => ({ value, label: texts[value] })),
  });
  const decline = choiceField({
    ...{ name: "on_decline", label: texts.onDecline, hint: texts.onDeclineHint, values: routing?.declineCodes ?? [] },
    choices: retriableCodes.map((value) => ({ value, label: translateCode(language, "failures", value) })),
  });
  return {
    title: texts.title,
    status: problems.length === 0 ? 200 : 422,
    body: html`<h1>${texts.title}</h1>${problemSummary(textsOf(language).frame.problemTitle, problems)}<p class="muted">${texts.about}</p>
${ruleTable(visit, connectors, routing?.rules ?? [], remove)}<h2>${texts.add}</h2>${postForm(visit, { fields: addFields(visit, connectors, typed, formOf("add")), button: texts.add, layout: "panel" })}
<h2>${texts.onOutage}</h2>${postForm(visit, { fields: [...formOf("outage"), outage, decline], button: texts.save, layout: "panel" })}
<p><a href="${base}/processors">${texts.back}</a></p>`,
  };
}

/** @param hidden the form's version and kind */
function addFields(
  { language }: MerchantVisit,
  connectors: readonly Connector[],
  typed: typeof emptyRule,
  hidden: readonly Html[],
): Html[] {
  const texts = textsOf(language).routing;
  const usable = connectors.filter(({ isActive, canBePrimary }) => isActive && canBePrimary);
  const accounts = usable.map(({ id }) => ({ value: id, label: accountName(language, connectors, id) }));
  const field = textFields(typed, []);
  const captures = (["automatic", "manual"] as const).map((value) => ({ value, label: texts[value] }));
  return [
    ...hidden,
    field("currency", texts.currency, { maxlength: 3, hint: texts.currencyHint }),
    field("amount_min", texts.amountMin, { inputmode: "decimal" }),
    field("amount_max", texts.amountMax, { inputmode: "decimal" }),
    selectField({
      ...{ name: "capture_method", label: texts.capture, value: typed.capture_method },
      choices: [{ value: "", label: texts.any }, ...captures],
    }),
    selectField({ name: "use", label: texts.use, value: typed.use, choices: accounts }),
    selectField({
      ...{ name: "fallback", label: texts.then, value: typed.fallback },
      choices: [{ value: "", label: texts.noOther }, ...accounts],
    }),
    field("share", texts.share, { inputmode: "numeric", hint: texts.shareHint, maxlength: 3 }),
  ];
}

async function change(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).routing;
  const { routing } = await context.peers.connectors.getRouting({ merchantId, environment });
  const typed = Object.fromEntries(Object.keys(emptyRule).map((name) => [name, form.text(name)])) as typeof emptyRule;
  const version = Number(form.raw("version"));
  if (!routing || routing.version !== version)
    return await editPage(context, visit, typed, [["currency", texts.stale]]);
  const next = changedRouting(routing, form, typed);
  const call = next && context.peers.connectors.replaceRouting({ merchantId, environment, routing: next });
  const changed = call && (await unlessRefused(call, "INVALID_BODY"));
  if (!changed) return await editPage(context, visit, typed, [["currency", texts.invalid]]);
  return { go: `${base}/processors/routing`, done: "processor-saved" };
}

/** @returns undefined: a field is wrong. */
function changedRouting(routing: Routing, form: Form, typed: typeof emptyRule) {
  const { rules, version, onOutage, declineCodes } = routing;
  const kept = { onOutage, declineCodes, version };
  if (form.raw("do") === "outage") {
    const codes = retriableCodes.filter((code) => form.all("on_decline").includes(code));
    return { rules, version, onOutage: form.raw("on_outage"), declineCodes: codes };
  }
  if (form.raw("do") === "remove") {
    return { ...kept, rules: rules.filter((_, i) => i + 1 !== Number(form.raw("position"))) };
  }
  const currency = typed.currency.toUpperCase();
  const amountOf = (text: string) => (text === "" ? 0n : minorUnits(text, currency));
  const [amountMin, amountMax] = [amountOf(typed.amount_min), amountOf(typed.amount_max)];
  if (amountMin === undefined || amountMax === undefined || !/^\d{0,3}$/.test(typed.share)) return undefined;
  const use = [typed.use, typed.fallback].filter((id, i, all) => id !== "" && all.indexOf(id) === i);
  const rule = { currency, amountMin, amountMax, captureMethod: typed.capture_method, use, share: Number(typed.share) };
  return { ...kept, rules: [...rules, rule] };
}
