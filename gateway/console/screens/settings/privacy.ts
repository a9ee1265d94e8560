// Erases a buyer's personal data in two steps, lists erasures, and downloads what there is about a buyer. An e-mail is
// only in form bodies and pages, never in an address, and a form that is sent several times erases once.
import type { FastifyReply } from "fastify";
import { asFailure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { Erasure, ExportBuyerResponse } from "#proto/checkout/v1/privacy_pb.ts";
import { presentExport } from "../../../../services/public-json/privacy.ts";
import { type Html, html } from "../../../html.ts";
import { idParam, queryOf } from "../../http/address.ts";
import { dayText as utcDay } from "../../http/day.ts";
import { type Form, isLine } from "../../http/form.ts";
import { freshKey, onceField, onceOf } from "../../http/once.ts";
import { pageHeaders } from "../../http/send-page.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { stateOf } from "../../texts/labels.ts";
import { fillText, pluralText, textsOf } from "../../texts/texts.ts";
import { hiddenField, type Problems, problemSummary, textFields } from "../../view/fields.ts";
import { postForm } from "../../view/forms.ts";
import { renderCopyable, toneChip } from "../../view/pieces.ts";
import { loadSection } from "../../view/section.ts";
import { factList, htmlTable } from "../../view/table.ts";
import { countText, dateTimeText, dayText } from "../../view/values.ts";

/** Of owners and administrators only, as the scope `merchant:write` is their keys'. */
export const eraseAction = "profile.write";
const about = "erasure";
const emailMax = 254;
const shownMax = 20;
const openDisputes = ["warning_needs_response", "warning_under_review", "needs_response", "under_review"];

/** As typed; exactly one is not empty. */
interface Buyer {
  readonly customer_email: string;
  readonly payment_id: string;
}

export function privacyRoutes(context: ConsoleContext): void {
  merchantPage(context, "/privacy", eraseAction, (visit) => {
    const paymentId = queryOf(visit).get("payment") ?? "";
    return startPage(context, visit, { customer_email: "", payment_id: isId("payment", paymentId) ? paymentId : "" });
  });
  merchantForm(context, "/privacy", { action: eraseAction }, (visit, form) =>
    withBuyer(context, visit, form, (found, buyer) => review(context, visit, buyer, found)),
  );
  merchantForm(context, "/privacy/export", { action: eraseAction }, (visit, form) =>
    withBuyer(context, visit, form, (found) => sendFile(visit, found)),
  );
  merchantForm(context, "/privacy/erase", { action: eraseAction, proof: () => true }, (visit, form) =>
    erase(context, visit, form),
  );
  merchantPage(context, "/privacy/erasures/:id", eraseAction, (visit) => erasurePage(context, visit));
}

/** Continues with what there is about the typed buyer, or shows the form with its problems. */
async function withBuyer<T>(
  context: ConsoleContext,
  visit: MerchantVisit,
  form: Form,
  then: (found: ExportBuyerResponse, buyer: Buyer) => Promise<T>,
): Promise<T | Page> {
  const buyer = buyerIn(form);
  const problems = problemsOf(visit, buyer);
  if (problems.length > 0) return await startPage(context, visit, buyer, problems);
  const { merchantId, environment, language } = visit;
  try {
    const found = await context.peers.privacy.exportBuyer({ merchantId, environment, ...requestOf(buyer) });
    if (found.sessions.length + found.payments.length > 0) return await then(found, buyer);
  } catch (error) {
    return await startPage(context, visit, buyer, refusalOf(visit, buyer, error));
  }
  return await startPage(context, visit, buyer, [[fieldOf(buyer), textsOf(language).privacy.nothingFound]]);
}

function buyerIn(form: Form): Buyer {
  return { customer_email: form.text("customer_email"), payment_id: form.text("payment_id") };
}

const requestOf = ({ customer_email: customerEmail, payment_id: paymentId }: Buyer) => ({ customerEmail, paymentId });
const fieldOf = ({ customer_email }: Buyer) => (customer_email === "" ? "payment_id" : "customer_email");

function problemsOf({ language }: MerchantVisit, { customer_email: email, payment_id: id }: Buyer): Problems {
  const texts = textsOf(language).privacy;
  if (email === "" && id === "") return [["customer_email", texts.needed]];
  if (email !== "" && id !== "") return [["payment_id", texts.onlyOne]];
  if (email !== "") return email.includes("@") && isLine(email, emailMax) ? [] : [["customer_email", texts.emailWrong]];
  return isId("payment", id) ? [] : [["payment_id", texts.unknownPayment]];
}

/** @throws any error that the form cannot explain */
function refusalOf({ language }: MerchantVisit, buyer: Buyer, error: unknown): Problems {
  const texts = textsOf(language).privacy;
  const { reason } = asFailure(error);
  if (reason === "NOT_FOUND") return [[fieldOf(buyer), texts.unknownPayment]];
  if (reason === "INVALID_BODY") return [[fieldOf(buyer), texts.emailWrong]];
  if (reason === "ERASURE_BLOCKED") return [[fieldOf(buyer), texts.blocked]];
  if (reason === "IDEMPOTENCY_KEY_REUSE") return [[fieldOf(buyer), texts.changed]];
  throw error;
}

async function startPage(
  context: ConsoleContext,
  visit: MerchantVisit,
  typed: Buyer,
  problems: Problems = [],
  disputes: readonly string[] = [],
): Promise<Page> {
  const { language, base, merchantId, environment } = visit;
  const texts = textsOf(language).privacy;
  const field = textFields({ ...typed }, problems);
  const form = postForm(visit, {
    action: `${base}/privacy`,
    fields: [
      field("customer_email", texts.email, { type: "email", maxlength: emailMax, hint: texts.emailHint }),
      field("payment_id", texts.paymentId, { maxlength: 64, hint: texts.paymentHint }),
    ],
    button: texts.review,
    layout: "panel",
    link: downloadButton(visit),
  });
  const links = disputes.map((id) => html`<li><a href="${base}/disputes/${id}">${texts.dispute} ${id}</a></li>`);
  const list = () => context.peers.privacy.listErasures({ merchantId, environment, limit: shownMax });
  const erasures = await loadSection(language, texts.latest, list, (found) => erasureTable(visit, found.erasures));
  return {
    title: texts.title,
    status: problems.length > 0 ? 422 : 200,
    body: html`<h1>${texts.title}</h1><p class="muted">${texts.about}</p>
${problemSummary(textsOf(language).frame.problemTitle, problems)}${links.length > 0 ? html`<ul class="plain">${links}</ul>` : ""}
${form}<h2>${texts.latest}</h2><p class="muted">${texts.unnamed}</p>${erasures}`,
  };
}

/** Sends the form's buyer to the download. */
function downloadButton({ base, language }: MerchantVisit): Html {
  const label = textsOf(language).privacy.download;
  return html`<button class="button secondary" formaction="${base}/privacy/export" data-download>${label}</button>`;
}

function erasureTable({ language, base }: MerchantVisit, erasures: readonly Erasure[]): Html {
  const texts = textsOf(language).privacy;
  const count = (heading: string, of: (erasure: Erasure) => number) => {
    return { heading, isNumber: true as const, cell: (erasure: Erasure) => countText(language, of(erasure)) };
  };
  return htmlTable({
    caption: texts.latest,
    rows: erasures,
    empty: texts.none,
    columns: [
      {
        heading: texts.requested,
        cell: ({ id, createdAt }) =>
          html`<a href="${base}/privacy/erasures/${id}">${dateTimeText(language, createdAt)}</a>`,
      },
      { heading: texts.status, cell: (erasure) => stateChip(language, erasure) },
      count(texts.payments, ({ payments }) => payments),
      count(texts.sessions, ({ sessions }) => sessions),
      count(texts.links, ({ paymentLinks }) => paymentLinks),
      { heading: texts.copiesUntil, cell: ({ copiesUntil }) => dayText(language, copiesUntil) },
    ],
  });
}

function stateChip(language: MerchantVisit["language"], { status }: Erasure): Html {
  const { text, tone } = stateOf(language, "erasureStates", status);
  return toneChip(text, tone);
}

/** Asks for confirmation. Names an open dispute before the service refuses. */
async function review(
  context: ConsoleContext,
  visit: MerchantVisit,
  buyer: Buyer,
  found: ExportBuyerResponse,
): Promise<Page> {
  const { language, base, merchantId } = visit;
  const texts = textsOf(language).privacy;
  const disputes = found.payments.flatMap(({ dispute }) =>
    dispute && openDisputes.includes(dispute.status) ? [dispute.id] : [],
  );
  if (disputes.length > 0)
    return await startPage(context, visit, buyer, [[fieldOf(buyer), texts.blocked]], [...new Set(disputes)]);
  const counts = {
    payments: pluralText(language, texts.paymentCount, found.payments.length),
    sessions: pluralText(language, texts.sessionCount, found.sessions.length),
  };
  const list = (title: string, items: readonly string[]) =>
    html`<h2>${title}</h2><ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
  const form = postForm(visit, {
    action: `${base}/privacy/erase`,
    fields: [
      hiddenField(onceField, freshKey(about, merchantId)),
      ...Object.entries(buyer).map(([name, value]) => hiddenField(name, value)),
    ],
    button: texts.erase,
    tone: "danger",
    link: html`${downloadButton(visit)}<a href="${base}/privacy">${textsOf(language).frame.goBack}</a>`,
  });
  return {
    title: texts.confirmTitle,
    body: html`<div class="panel question"><h1>${texts.confirmTitle}</h1>
${factList([
  [texts.email, buyer.customer_email],
  [texts.paymentId, renderCopyable(language, buyer.payment_id)],
  [texts.concerned, fillText(found.hasMore ? texts.concernedMore : texts.concernedAll, counts)],
])}
${list(texts.erasedTitle, Object.values(texts.erased))}${list(texts.keptTitle, Object.values(texts.kept))}
<p class="muted">${texts.elsewhere}</p><p class="warning"><strong>${texts.final}</strong></p>${form}</div>`,
  };
}

async function erase(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, base } = visit;
  const buyer = buyerIn(form);
  const problems = problemsOf(visit, buyer);
  if (problems.length > 0) return await startPage(context, visit, buyer, problems);
  const idempotency = onceOf(form, [about, merchantId], [environment, ...Object.values(buyer)]);
  try {
    const input = { merchantId, environment, ...requestOf(buyer), idempotency };
    const { erasure } = await context.peers.privacy.createErasure(input);
    return { go: `${base}/privacy/erasures/${erasure?.id ?? ""}` };
  } catch (error) {
    // The first of two equal forms is still at work.
    if (asFailure(error).reason === "IDEMPOTENCY_CONFLICT") return { go: `${base}/privacy`, done: "erasure-running" };
    return await startPage(context, visit, buyer, refusalOf(visit, buyer, error));
  }
}

async function erasurePage({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).privacy;
  const id = idParam(visit, "id", "erasure");
  const { erasure } = await peers.privacy.getErasure({ merchantId, environment, id });
  if (!erasure) throw new Error("an erasure without content");
  const isFinished = erasure.finishedAt !== undefined;
  const title = isFinished ? texts.finishedTitle : texts.runningTitle;
  return {
    title,
    body: html`<div class="heading"><h1>${title}</h1>${stateChip(language, erasure)}</div>
<section class="panel"><p>${isFinished ? texts.finishedText : texts.runningText}</p>${factList([
      [texts.payments, countText(language, erasure.payments)],
      [texts.sessions, countText(language, erasure.sessions)],
      [texts.links, countText(language, erasure.paymentLinks)],
      [texts.requested, dateTimeText(language, erasure.createdAt)],
      [texts.finished, dateTimeText(language, erasure.finishedAt)],
      [texts.copiesUntil, dayText(language, erasure.copiesUntil)],
      [texts.id, renderCopyable(language, id)],
    ])}<p class="muted">${texts.copiesText}</p><p class="muted">${texts.elsewhere}</p></section>
<p><a href="${base}/privacy">${texts.toAll}</a></p>`,
  };
}

async function sendFile({ reply }: MerchantVisit, found: ExportBuyerResponse): Promise<FastifyReply> {
  return await reply
    .headers(pageHeaders)
    .header("content-disposition", `attachment; filename="buyer-data-${utcDay(Date.now())}.json"`)
    .header("x-content-type-options", "nosniff")
    .type("application/json; charset=utf-8")
    .send(`${JSON.stringify(presentExport(found), null, 2)}\n`);
}
