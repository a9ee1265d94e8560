// Explains risk decisions: all decisions about a session with their rules, and recently blocked sessions.
import type { RiskDecision, RiskLook } from "#proto/checkout/v1/risk_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { unlessRefused } from "../../../http/form.ts";
import { operatorPage } from "../../../routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { filterForm, filterSelect, searchInput } from "../../../view/filter-form.ts";
import { backTo, formatEnvironment } from "../../../view/operator-forms.ts";
import { addressWith, toneChip } from "../../../view/pieces.ts";
import { htmlTable } from "../../../view/table.ts";
import { dateTimeText } from "../../../view/values.ts";
import { formatKind, formatQuantity, formatStage, ownerOf } from "./rule-form.ts";

const limit = 100;

export function riskDecisionRoutes(context: ConsoleContext): void {
  operatorPage(context, "/risk/decisions", "risk.read", (visit) => explainPage(context, visit));
  operatorPage(context, "/risk/blocked", "risk.read", (visit) => blockedPage(context, visit));
}

async function explainPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const texts = textsOf(visit.language).rules;
  const session = (queryOf(visit).get("session") ?? "").trim().slice(0, 64);
  const explain = () => peers.risk.explainDecision({ sessionId: session });
  const found = session === "" ? [] : ((await unlessRefused(explain(), "NOT_FOUND"))?.decisions ?? []);
  const none = session !== "" && found.length === 0 ? html`<p class="empty">${texts.noDecision}</p>` : "";
  return {
    title: texts.explain,
    body: html`${backTo("/risk", texts.risk)}<h1>${texts.explain}</h1>
${filterForm("/risk/decisions", texts.explain, textsOf(visit.language).operatorForms.show, [searchInput({ name: "session", label: texts.explainField, value: session })])}
${none}${found.map((decision) => renderDecision(visit, decision))}`,
  };
}

function renderDecision(visit: OperatorVisit, { stage, blocked, decidedAt, looks }: RiskDecision): Html {
  const { language } = visit;
  const texts = textsOf(language).rules;
  const outcome = blocked ? toneChip(texts.hit, "bad") : toneChip(texts.passed, "good");
  return html`<h2>${formatStage(language, stage)} ${outcome}</h2><p class="muted">${dateTimeText(language, decidedAt)}</p>${renderChecks(visit, looks)}`;
}

function renderChecks({ language }: OperatorVisit, checks: readonly RiskLook[]): Html {
  const texts = textsOf(language).rules;
  return htmlTable({
    caption: texts.decision,
    rows: checks,
    empty: texts.noDefaults,
    columns: [
      { heading: texts.kind, cell: ({ kind }) => formatKind(language, kind) },
      { heading: texts.subject, cell: ({ subject }) => html`<code>${subject}</code>` },
      {
        heading: texts.measured,
        isNumber: true,
        cell: ({ kind, subject, measured }) => formatQuantity(language, kind, subject, measured),
      },
      {
        heading: texts.limit,
        isNumber: true,
        cell: ({ kind, subject, limit }) => formatQuantity(language, kind, subject, limit),
      },
      {
        heading: texts.decision,
        cell: ({ hit }) => (hit ? toneChip(texts.hit, "bad") : toneChip(texts.passed, "quiet")),
      },
      { heading: texts.rule, cell: ({ ruleId }) => html`<code>${ruleId}</code>` },
    ],
  });
}

async function blockedPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).rules, textsOf(language).operatorForms];
  const query = queryOf(visit);
  const merchant = ownerOf((query.get("merchant") ?? "").trim());
  const isLive = query.get("environment") !== "sandbox";
  const environment = isLive ? Environment.LIVE : Environment.SANDBOX;
  const response =
    merchant === "*" ? undefined : await peers.risk.listBlocked({ merchantId: merchant, environment, limit });
  const filters = [
    searchInput({ name: "merchant", label: `${ownTexts.merchantId} (mer_…)`, value: merchant === "*" ? "" : merchant }),
    filterSelect({
      ...{ name: "environment", label: ownTexts.environment, value: isLive ? "live" : "sandbox", isCompact: true },
      choices: (["live", "sandbox"] as const).map((value) => ({ value, label: ownTexts[value] })),
    }),
  ];
  return {
    title: texts.blocked,
    body: html`${backTo("/risk", texts.risk)}<h1>${texts.blocked}</h1>
${filterForm("/risk/blocked", texts.blocked, ownTexts.show, filters)}
${response ? blockedTable(visit, response.decisions) : html`<p class="empty">${ownTexts.merchantIdNeeded}</p>`}`,
  };
}

function blockedTable({ language }: OperatorVisit, decisions: readonly RiskDecision[]): Html {
  const texts = textsOf(language).rules;
  return htmlTable({
    caption: texts.blocked,
    rows: decisions,
    empty: texts.noBlocked,
    columns: [
      { heading: textsOf(language).operatorForms.at, cell: ({ decidedAt }) => dateTimeText(language, decidedAt) },
      {
        heading: texts.decision,
        cell: ({ sessionId }) =>
          html`<a href="${addressWith("/risk/decisions", { session: sessionId })}"><code>${sessionId}</code></a>`,
      },
      { heading: texts.stage, cell: ({ stage }) => formatStage(language, stage) },
      {
        heading: textsOf(language).operatorForms.environment,
        cell: ({ environment }) => formatEnvironment(language, environment),
      },
      {
        heading: texts.rule,
        cell: ({ looks }) =>
          looks
            .filter(({ hit }) => hit)
            .map(({ kind, subject }) => `${formatKind(language, kind)} ${subject}`)
            .join(", "),
      },
    ],
  });
}
