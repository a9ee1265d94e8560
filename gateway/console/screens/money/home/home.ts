// The home screen: figures, what needs attention, and the steps to go live, each loaded separately.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import { loadSection } from "../../../view/section.ts";
import { countText, dayText } from "../../../view/values.ts";
import { endpointsWithHealth, isFailing } from "../../developers/webhooks.ts";
import { renderHomeBalance } from "../balance/balance.ts";
import { openDisputes } from "../disputes/dispute.ts";
import { overviewDays, renderFigures } from "./figures.ts";

export function homeRoutes(context: ConsoleContext): void {
  merchantPage(context, "/home", undefined, (visit) => homePage(context, visit));
}

async function homePage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, merchantId, environment, may } = visit;
  const texts = textsOf(language).home;
  const overview = () => context.peers.payments.getOverview({ merchantId, environment, days: overviewDays });
  const [figures, balance, attention, checklist] = await Promise.all([
    may("payments.read") ? loadSection(language, texts.figures, overview, (found) => renderFigures(visit, found)) : "",
    may("payments.read") ? renderHomeBalance(context, visit) : "",
    renderAttention(context, visit),
    renderChecklist(context, visit),
  ]);
  return { title: texts.title, body: html`<h1>${texts.title}</h1>${attention}${balance}${figures}${checklist}` };
}

const expiresSoonMs = 14 * 86_400_000;
// The list starts with active keys, and at most fifty are active.
const keysMax = 50;

async function renderAttention(context: ConsoleContext, visit: MerchantVisit): Promise<Html> {
  const { language, base, may, merchantId, environment } = visit;
  const texts = textsOf(language).home;
  const line = (path: string, text: string, more: Html | string = "") =>
    html`<li><a href="${base}/${path}">${text}</a>${more}</li>`;
  const parts = await Promise.all([
    may("payments.refund")
      ? loadSection(
          language,
          texts.refundsPart,
          () => context.peers.payments.listRefunds({ merchantId, environment, limit: 1, needsAction: true }),
          ({ total }) =>
            total === 0n
              ? ""
              : line(
                  "refunds?status=needs_action",
                  fillText(texts.failedRefunds, { count: countText(language, total) }),
                ),
        )
      : "",
    may("disputes.answer")
      ? loadSection(
          language,
          texts.disputesPart,
          () => openDisputes(context, visit),
          ({ disputes, total }) => {
            const due = disputes[0]?.dispute?.evidenceDueAt;
            const first = due ? html` – ${texts.disputeDue} ${dayText(language, due)}` : "";
            return total === 0n
              ? ""
              : line("disputes", fillText(texts.disputes, { count: countText(language, total) }), first);
          },
        )
      : "",
    may("webhooks.read")
      ? loadSection(
          language,
          texts.webhooksPart,
          () => failingEndpoints(context, visit),
          (failing) =>
            failing === 0 ? "" : line("webhooks", fillText(texts.failing, { count: countText(language, failing) })),
        )
      : "",
    may("keys.read")
      ? loadSection(
          language,
          texts.keysPart,
          () => expiringKeys(context, visit),
          (expiring) =>
            expiring === 0 ? "" : line("keys", fillText(texts.keys, { count: countText(language, expiring) })),
        )
      : "",
  ]);
  const shown = parts.flatMap((each) => (typeof each === "string" ? [] : [each]));
  return shown.length === 0
    ? html`<p class="muted">${texts.quiet}</p>`
    : html`<section class="panel attention"><h2>${texts.attention}</h2><ul>${shown}</ul></section>`;
}

async function failingEndpoints(context: ConsoleContext, visit: MerchantVisit): Promise<number> {
  const endpoints = await endpointsWithHealth(context, visit);
  return endpoints.filter(({ endpoint, health }) => endpoint.status === "active" && isFailing(health)).length;
}

async function expiringKeys({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit): Promise<number> {
  const { apiKeys } = await peers.apiKeys.listApiKeys({ merchantId, environment, limit: keysMax });
  const soon = Date.now() + expiresSoonMs;
  return apiKeys.filter(
    ({ status, expiresAt }) => status === "active" && expiresAt !== undefined && timestampMs(expiresAt) < soon,
  ).length;
}

type StepName =
  | "keyCreated"
  | "sessionCreated"
  | "paid"
  | "webhook"
  | "branding"
  | "profile"
  | "liveProcessor"
  | "liveKey";

interface Step {
  readonly name: StepName;
  readonly isDone: boolean;
  /** Relative to the merchant's address. */
  readonly path: string;
  readonly action?: string;
}

async function renderChecklist(context: ConsoleContext, visit: MerchantVisit): Promise<Html | string> {
  const { language } = visit;
  const texts = textsOf(language).home;
  return await loadSection(
    language,
    texts.list,
    () => loadSteps(context, visit),
    (steps) => {
      const done = steps.filter(({ isDone }) => isDone).length;
      if (done === steps.length) return "";
      return html`<section class="panel"><h2>${texts.list}</h2><p class="muted">${fillText(texts.listDone, { done: String(done), all: String(steps.length) })}</p>
<ol class="checklist">${steps.map((step) => item(visit, step))}</ol></section>`;
    },
  );
}

function item({ language, merchantId, may }: MerchantVisit, { name, isDone, path, action }: Step): Html {
  const texts = textsOf(language).home;
  const mayGo = !isDone && (action === undefined || may(action));
  const text = mayGo ? html`<a href="/${merchantId}/${path}">${texts[name]}</a>` : texts[name];
  return html`<li class="${isDone ? "is-done" : "is-open"}"><span class="visually-hidden">${isDone ? texts.done : texts.open}: </span>${text}</li>`;
}

async function loadSteps({ peers }: ConsoleContext, { merchantId }: MerchantVisit): Promise<readonly Step[]> {
  const sandbox = { merchantId, environment: Environment.SANDBOX };
  const live = { merchantId, environment: Environment.LIVE };
  const [keys, liveKeys, sessions, links, payments, endpoints, liveEndpoints, branding, profile, connectors] =
    await Promise.all([
      peers.apiKeys.listApiKeys({ ...sandbox, limit: 1 }),
      peers.apiKeys.listApiKeys({ ...live, limit: 1 }),
      peers.checkout.listSessions({ ...sandbox, limit: 1 }),
      peers.links.listPaymentLinks({ ...sandbox, limit: 1 }),
      peers.payments.listPayments({ ...sandbox, limit: 1, status: "succeeded" }),
      peers.webhooks.listEndpoints(sandbox),
      peers.webhooks.listEndpoints(live),
      peers.merchants.getBranding(live),
      peers.merchants.getMerchant(live),
      peers.connectors.listConnectors(live),
    ]);
  const hasActive = (found: typeof keys) => found.apiKeys.some(({ status }) => status === "active");
  const { displayName = "", logoUrl = "", accentColor = "" } = branding.branding ?? {};
  const { legalName = "", phone = "", website = "" } = profile.merchant ?? {};
  const isActive = ({ status }: { readonly status: string }) => status === "active";
  return [
    { name: "keyCreated", isDone: keys.total > 0n, path: "sandbox/keys", action: "keys.read" },
    {
      ...{ name: "sessionCreated", path: "sandbox/links", action: "links.write" },
      isDone: sessions.total > 0n || links.links.length > 0,
    },
    { name: "paid", isDone: payments.total > 0n, path: "sandbox/payments", action: "payments.read" },
    {
      ...{ name: "webhook", path: "sandbox/webhooks", action: "webhooks.write" },
      isDone: endpoints.endpoints.some(isActive) || liveEndpoints.endpoints.some(isActive),
    },
    { name: "branding", isDone: [displayName, logoUrl, accentColor].some((set) => set !== ""), path: "live/branding" },
    { name: "profile", isDone: [legalName, phone, website].every((set) => set !== ""), path: "live/profile" },
    {
      ...{ name: "liveProcessor", path: "live/processors", action: "connectors.read" },
      isDone: connectors.connectors.some(({ isActive: is, connector }) => is && connector !== "simulator"),
    },
    { name: "liveKey", isDone: hasActive(liveKeys), path: "live/keys", action: "keys.read" },
  ];
}
