// Payment links: all of them, and one with its address, its sales and its end.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { ListPaymentLinksResponse, PaymentLink } from "#proto/checkout/v1/links_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { searchOf } from "../../../../json/parts/input.ts";
import { idParam, queryOf } from "../../../http/address.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { stateOf } from "../../../texts/labels.ts";
import { fillText, type Language, textsOf } from "../../../texts/texts.ts";
import { filterForm, filterSelect, searchInput } from "../../../view/filter-form.ts";
import { postForm } from "../../../view/forms.ts";
import { cursorLinks, filterChips, onThisPage, qrCode, renderCopyable, toneChip } from "../../../view/pieces.ts";
import { loadSection } from "../../../view/section.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { countText, dateTimeText, moneyText } from "../../../view/values.ts";
import { checkoutRoutes, lineItemTable } from "./checkouts.ts";
import { createRoutes } from "./create.ts";
import { emailLinkForm, mailRoutes } from "./mail.ts";

const pageSize = 50;
const usesCounted = 10_000; // by the service

export function linksRoutes(context: ConsoleContext): void {
  merchantPage(context, "/links", "payments.read", (visit) => linksPage(context, visit));
  createRoutes(context);
  oneLinkRoutes(context);
  mailRoutes(context);
  checkoutRoutes(context);
}

async function linksPage({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base, merchantId, environment, may } = visit;
  const texts = textsOf(language).links;
  const query = queryOf(visit);
  const path = `${base}/links`;
  const q = (query.get("q") ?? "").trim().slice(0, 254);
  const status = ["active", "closed"].find((each) => each === query.get("status")) ?? "";
  const afterId = query.get("after") ?? "";
  const found = () =>
    peers.links.listPaymentLinks({ merchantId, environment, limit: pageSize, afterId, q: searchOf(q), status });
  const choices = [
    { value: "", label: texts.anyStatus },
    { value: "active", label: texts.notClosed },
    { value: "closed", label: stateOf(language, "moneyStates", "closed").text },
  ];
  const shown = [
    { name: "q", label: texts.query, value: q },
    { name: "status", label: texts.status, value: choices.find(({ value }) => value === status)?.label ?? "" },
  ];
  const filters = [
    searchInput({ name: "q", label: texts.searchLinks, value: q }, 254),
    filterSelect({ name: "status", label: texts.status, value: status, isCompact: true, choices }),
  ];
  const create = may("links.write") ? html`<a class="button" href="${path}/new">${texts.newTitle}</a>` : "";
  const list = (answer: ListPaymentLinksResponse) => linkTable(visit, path, query, q !== "" || status !== "", answer);
  return {
    title: texts.title,
    body: html`<div class="heading"><h1>${texts.title}</h1>${create}</div><p class="muted">${texts.intro}</p>
${filterForm(path, texts.title, texts.find, filters)}${filterChips(language, path, query, shown)}
${await loadSection(language, texts.title, found, list)}`,
  };
}

function linkTable(
  { language }: MerchantVisit,
  path: string,
  query: URLSearchParams,
  isFiltered: boolean,
  { links, hasMore }: ListPaymentLinksResponse,
): Html {
  const texts = textsOf(language).links;
  const next = hasMore ? links.at(-1)?.id : "";
  const name = (link: PaymentLink) => link.description || link.orderReference || texts.noDescription;
  return html`${htmlTable({
    caption: texts.title,
    rows: links,
    empty: isFiltered ? texts.noneFound : texts.none,
    columns: [
      { heading: texts.description, cell: (link) => html`<a href="${path}/${link.id}">${name(link)}</a>` },
      { heading: texts.amount, isNumber: true, cell: (link) => amountText(language, link) },
      { heading: texts.sold, isNumber: true, cell: (link) => soldText(language, link) },
      { heading: texts.status, cell: (link) => stateChip(language, link) },
      { heading: texts.created, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
      { heading: texts.link, cell: ({ url }) => renderCopyable(language, url) },
    ],
  })}
${cursorLinks(language, { path, query, next, total: onThisPage(language, links.length) })}`;
}

/** An amount, or the bounds that buyers choose between. */
function amountText(language: Language, { amountMin, amountMax, currency }: PaymentLink): string {
  const [least, most] = [amountMin, amountMax].map((amount) => moneyText(language, amount, currency));
  return amountMin === amountMax ? `${least}` : `${least} – ${most}`;
}

function soldText(language: Language, { paid, usesMax }: PaymentLink): string {
  const sold = `${countText(language, paid)}${paid >= usesCounted ? "+" : ""}`;
  if (usesMax === 0) return sold;
  return fillText(textsOf(language).links.soldOf, { sold, max: countText(language, usesMax) });
}

function stateChip(language: Language, { state, usesMax }: PaymentLink): Html {
  // A link for one payment is paid, not sold out.
  const isPaid = state === "sold_out" && usesMax === 1;
  const { text, tone } = stateOf(language, "moneyStates", isPaid ? "completed" : state);
  return toneChip(text, tone);
}

function oneLinkRoutes(context: ConsoleContext): void {
  const { peers } = context;
  merchantPage(context, "/links/:linkId", "payments.read", async (visit) => {
    const { merchantId, environment, base } = visit;
    const { linkId = "" } = visit.request.params as { readonly linkId?: string };
    // Addresses of the release before, and of a payment's checkout.
    if (isId("session", linkId)) return { go: `${base}/checkouts/${linkId}` };
    const { link } = await peers.links.getPaymentLink({ merchantId, environment, linkId });
    if (!link) throw new Failure("NOT_FOUND");
    return linkPage(visit, link);
  });
  merchantForm(context, "/links/:linkId/close", { action: "links.write" }, async (visit) => {
    const { merchantId, environment, base } = visit;
    const linkId = idParam(visit, "linkId", "paymentLink");
    await peers.links.closePaymentLink({ merchantId, environment, linkId });
    return { go: `${base}/links/${linkId}`, done: "link-closed" };
  });
}

function linkPage(visit: MerchantVisit, link: PaymentLink): Page {
  const { language, base } = visit;
  const texts = textsOf(language).links;
  const title = fillText(texts.linkOf, { amount: amountText(language, link) });
  const { url, state } = link;
  const address =
    url === ""
      ? html`<p class="warning">${texts.noOrigin}</p>`
      : html`<p class="made-link">${renderCopyable(language, url)}</p>
${qrCode(texts.qr, url)}<p class="muted">${texts.anyone}</p>`;
  const isPayable = state === "active" || state === "busy";
  return {
    title,
    body: html`<div class="heading"><h1>${title}</h1>${stateChip(language, link)}</div>
${isPayable ? html`<div class="panel">${address}</div>` : ""}
<div class="panel">${factList(linkFacts(visit, link))}</div>${lineItemTable(visit, link)}
${isPayable && url !== "" ? emailLinkForm(visit, link) : ""}${closeForm(visit, link)}
<p><a href="${base}/checkouts?q=${link.id}">${texts.checkoutsOfLink}</a></p>
<p><a href="${base}/links">${texts.back}</a></p>`,
  };
}

function linkFacts({ language }: MerchantVisit, link: PaymentLink): readonly (readonly [string, Html | string])[] {
  const texts = textsOf(language).links;
  const { pending, expiresAt, locale } = link;
  const isOver = expiresAt && timestampDate(expiresAt) <= clockNow();
  const languageName = locale && new Intl.DisplayNames(language, { type: "language" }).of(locale);
  return [
    [texts.sold, soldText(language, link)],
    [texts.beingPaid, pending === 0 ? "" : countText(language, pending)],
    [texts.description, link.description],
    [texts.reference, link.orderReference],
    [texts.email, link.customerEmail],
    [isOver ? texts.ended : texts.expiresAt, expiresAt ? dateTimeText(language, expiresAt) : texts.noEnd],
    [texts.language, languageName || texts.automatic],
    [texts.capture, link.captureMethod === "manual" ? texts.captureManual : texts.captureAutomatic],
    [texts.created, dateTimeText(language, link.createdAt)],
    [texts.id, renderCopyable(language, link.id)],
  ];
}

function closeForm(visit: MerchantVisit, { id, state }: PaymentLink): Html | string {
  if (state === "closed" || !visit.may("links.write")) return "";
  const texts = textsOf(visit.language).links;
  const form = postForm(visit, { action: `${visit.base}/links/${id}/close`, button: texts.closeNow, tone: "danger" });
  return html`<details class="more"><summary>${texts.closeLink}</summary><p>${texts.closeText}</p>${form}</details>`;
}
