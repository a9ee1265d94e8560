// Checkouts: every session, of the shop's own code or of a payment link, and one of them, which can be ended while it
// is open.

import { Failure } from "#platform/values/failure.ts";
import type { ListSessionsResponse, Session } from "#proto/checkout/v1/checkout_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { searchOf } from "../../../../json/parts/input.ts";
import { idParam, queryOf } from "../../../http/address.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { codeChoices, stateOf, translateCode } from "../../../texts/labels.ts";
import { fillText, type Language, pluralText, textsOf } from "../../../texts/texts.ts";
import { filterForm, filterSelect, searchInput } from "../../../view/filter-form.ts";
import { postForm } from "../../../view/forms.ts";
import { cursorLinks, filterChips, renderCopyable, toneChip } from "../../../view/pieces.ts";
import { loadSection } from "../../../view/section.ts";
import { factList, htmlTable, metadataList } from "../../../view/table.ts";
import { dateTimeText, moneyText } from "../../../view/values.ts";

const pageSize = 50;
const statuses = ["open", "processing", "completed", "expired", "canceled"] as const;

export function checkoutRoutes(context: ConsoleContext): void {
  merchantPage(context, "/checkouts", "payments.read", (visit) => checkoutsPage(context, visit));
  oneCheckoutRoutes(context);
}

async function checkoutsPage({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base, merchantId, environment } = visit;
  const texts = textsOf(language).links;
  const query = queryOf(visit);
  const path = `${base}/checkouts`;
  const q = (query.get("q") ?? "").trim().slice(0, 254);
  const status = statuses.find((each) => each === query.get("status")) ?? "";
  const afterId = query.get("after") ?? "";
  const found = () =>
    peers.checkout.listSessions({ merchantId, environment, limit: pageSize, afterId, q: searchOf(q), status });
  const shown = [
    { name: "q", label: texts.query, value: q },
    { name: "status", label: texts.status, value: stateOf(language, "moneyStates", status).text },
  ];
  const filters = [
    searchInput({ name: "q", label: texts.search, value: q }, 254),
    filterSelect({
      ...{ name: "status", label: texts.status, value: status, isCompact: true },
      choices: codeChoices(language, "moneyStates", statuses, texts.anyStatus),
    }),
  ];
  return {
    title: texts.checkouts,
    body: html`<div class="heading"><h1>${texts.checkouts}</h1></div><p class="muted">${texts.checkoutsAbout}</p>
${filterForm(path, texts.checkouts, texts.find, filters)}${filterChips(language, path, query, shown)}
${await loadSection(language, texts.checkouts, found, (answer) => list(visit, path, query, q !== "" || status !== "", answer))}`,
  };
}

function list(
  visit: MerchantVisit,
  path: string,
  query: URLSearchParams,
  isFiltered: boolean,
  found: ListSessionsResponse,
): Html {
  const { language } = visit;
  const texts = textsOf(language).links;
  const next = found.hasMore ? found.sessions.at(-1)?.id : "";
  return html`${checkoutTable(visit, found.sessions, isFiltered ? texts.noneFound : texts.noCheckouts)}
${cursorLinks(language, { path, query, next, total: pluralText(language, texts.total, found.total) })}`;
}

/** @param empty in place of a table without rows */
export function checkoutTable(
  { language, base }: MerchantVisit,
  sessions: readonly Session[],
  empty: string,
): Html | string {
  const texts = textsOf(language).links;
  return htmlTable({
    caption: texts.checkouts,
    rows: sessions,
    empty,
    columns: [
      {
        heading: texts.amount,
        isNumber: true,
        cell: ({ id, amount, currency }) =>
          html`<a href="${base}/checkouts/${id}">${moneyText(language, amount, currency)}</a>`,
      },
      { heading: texts.status, cell: (session) => sessionState(language, session) },
      { heading: texts.reference, cell: ({ orderReference }) => orderReference },
      { heading: texts.email, cell: ({ customerEmail }) => customerEmail },
      {
        heading: texts.expiresAt,
        cell: (session) => (session.status === "open" ? dateTimeText(language, session.expiresAt) : ""),
      },
      { heading: texts.created, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
    ],
  });
}

function oneCheckoutRoutes(context: ConsoleContext): void {
  const { checkout } = context.peers;
  merchantPage(context, "/checkouts/:sessionId", "payments.read", async (visit) => {
    const { merchantId, environment } = visit;
    const sessionId = idParam(visit, "sessionId", "session");
    const { session } = await checkout.getSession({ merchantId, environment, sessionId });
    if (!session) throw new Failure("NOT_FOUND");
    return checkoutPage(visit, session);
  });
  merchantForm(context, "/checkouts/:sessionId/end", { action: "links.write" }, async (visit) => {
    const { merchantId, environment, base } = visit;
    const sessionId = idParam(visit, "sessionId", "session");
    const { session } = await checkout.expireSession({ merchantId, environment, sessionId });
    const ended = session?.status === "expired" || session?.status === "canceled";
    return { go: `${base}/checkouts/${sessionId}`, done: ended ? "checkout-ended" : "checkout-paid" };
  });
}

/** The state as a chip. An authorization is not paid yet. */
function sessionState(language: Language, session: Session): Html {
  const { status, paymentStatus, capturedAmount } = session;
  const isAuthorized = status === "completed" && paymentStatus === "succeeded" && capturedAmount === 0n;
  if (isAuthorized) return toneChip(textsOf(language).payment.authorized, "wait");
  const { text, tone } = stateOf(language, "moneyStates", status);
  return toneChip(text, tone);
}

function checkoutPage(visit: MerchantVisit, session: Session): Page {
  const { language, base } = visit;
  const texts = textsOf(language).links;
  const title = fillText(texts.checkoutOf, { amount: moneyText(language, session.amount, session.currency) });
  const hasPayment = session.paymentId !== "" && !session.paymentHidden;
  const captured = session.capturedAmount ?? 0n;
  return {
    title,
    body: html`<div class="heading"><h1>${title}</h1>${sessionState(language, session)}</div>
<div class="panel">${factList([
      [texts.payment, hasPayment ? html`<a href="${base}/payments/${session.paymentId}">${texts.openPayment}</a>` : ""],
      [textsOf(language).payment.captured, captured === 0n ? "" : moneyText(language, captured, session.currency)],
      [texts.reference, session.orderReference],
      [texts.description, session.description],
      [texts.email, session.customerEmail],
      [texts.created, dateTimeText(language, session.createdAt)],
      [texts.completed, dateTimeText(language, session.completedAt)],
      [texts.expiresAt, session.status === "open" ? dateTimeText(language, session.expiresAt) : ""],
      [texts.processor, translateCode(language, "processorNames", session.connector)],
      [texts.capture, session.captureMethod === "manual" ? texts.captureManual : texts.captureAutomatic],
      [
        texts.link,
        session.paymentLinkId === ""
          ? ""
          : html`<a href="${base}/links/${session.paymentLinkId}"><code>${session.paymentLinkId}</code></a>`,
      ],
      [texts.metadata, metadataList(session.metadata)],
      [texts.id, renderCopyable(language, session.id)],
    ])}</div>${lineItemTable(visit, session)}${endForm(visit, session)}
<p><a href="${base}/checkouts">${texts.allCheckouts}</a></p>`,
  };
}

export function lineItemTable(
  { language }: MerchantVisit,
  { lineItems, currency }: Pick<Session, "lineItems" | "currency">,
): Html | string {
  if (lineItems.length === 0) return "";
  const texts = textsOf(language).links;
  return html`<h2>${texts.lineItems}</h2>${htmlTable({
    caption: texts.lineItems,
    rows: lineItems,
    empty: "",
    columns: [
      { heading: texts.itemName, cell: ({ name }) => name },
      { heading: texts.itemQuantity, isNumber: true, cell: ({ quantity }) => String(quantity) },
      { heading: texts.amount, isNumber: true, cell: ({ amount }) => moneyText(language, amount, currency) },
    ],
  })}`;
}

function endForm(visit: MerchantVisit, { id, status }: Session): Html | string {
  if (status !== "open" || !visit.may("links.write")) return "";
  const texts = textsOf(visit.language).links;
  const form = postForm(visit, {
    action: `${visit.base}/checkouts/${id}/end`,
    button: texts.endCheckout,
    tone: "danger",
  });
  return html`<details class="more"><summary>${texts.endCheckout}</summary><p>${texts.endText}</p>${form}</details>`;
}
