// The timeline of a payment, newest first: attempts, authorization, capture, refunds, dispute, webhook deliveries and
// audit entries.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { isId } from "#platform/values/id.ts";
import type { AuditEntry } from "#proto/merchant/v1/audit_pb.ts";
import type { Payment, PaymentAttempt, Refund } from "#proto/payments/v1/payments_pb.ts";
import type { PaymentDelivery } from "#proto/webhook/v1/webhook_pb.ts";
import { type Html, html } from "../../../../html.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { methodText, stateOf, type Tone, translateCode } from "../../../texts/labels.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import { toneChip } from "../../../view/pieces.ts";
import { renderMissing, unlessAway } from "../../../view/section.ts";
import { dayText, moneyText, preciseTimeText } from "../../../view/values.ts";
import { endpointsOf, peopleOf } from "../../settings/audit.ts";

interface TimelineItem {
  readonly at: Timestamp | undefined;
  readonly title: Html | string;
  readonly tone?: Tone;
  readonly details: readonly (Html | string)[];
}

/** @param payment undefined during an outage */
export function renderTimeline(visit: MerchantVisit, payment: Payment | undefined, story: Story): Html {
  const { language } = visit;
  const texts = textsOf(language).payment;
  const all = [
    ...(payment ? ofPayment(visit, payment) : []),
    ...(story.deliveries ?? []).map((each) => ofDelivery(visit, each, story.endpoints)),
    ...(story.acts ?? []).map((each) => ofAuditEntry(visit, each, story.names)),
  ];
  // Items of the same moment keep the order above.
  const sorted = all.map((each, i) => ({ each, i })).sort((a, b) => microsOf(b.each) - microsOf(a.each) || b.i - a.i);
  return html`<section class="panel"><h2>${texts.timeline}</h2>
${story.deliveries ? "" : renderMissing(language, texts.deliveries)}${story.acts ? "" : renderMissing(language, texts.activity)}
<ol class="timeline">${sorted.map(({ each }) => item(visit, each))}</ol></section>`;
}

function item({ language }: MerchantVisit, { at, title, tone = "quiet", details }: TimelineItem): Html {
  const shown = details.filter((each) => each !== "").map((each) => html`<p>${each}</p>`);
  return html`<li class="is-${tone}"><strong>${title}</strong> <span class="muted when">${preciseTimeText(language, at)}</span>${shown}</li>`;
}

function ofPayment(visit: MerchantVisit, payment: Payment): readonly TimelineItem[] {
  const { language } = visit;
  const texts = textsOf(language).payment;
  const { currency, attempts, failure, failedAt } = payment;
  const milestone = (at: Timestamp | undefined, title: string, tone: Tone) =>
    at ? [{ at, title, tone, details: [] }] : [];
  const last = attempts.at(-1);
  return [
    { at: payment.createdAt, title: texts.started, details: [] },
    ...attempts.map((each) => ofAttempt(visit, each, each === last ? (failure?.advice ?? "") : "")),
    ...milestone(payment.authorizedAt, texts.authorized, "good"),
    ...milestone(
      payment.capturedAt,
      fillText(texts.capturedAmount, { amount: moneyText(language, payment.capturedAmount, currency) }),
      "good",
    ),
    ...(failedAt && failure && last?.outcome !== "failed"
      ? [
          {
            at: failedAt,
            title: texts.paymentFailed,
            tone: "bad",
            details: [
              translateCode(language, "failures", failure.code),
              fillText(texts.processorMessage, { words: failure.message }),
            ],
          } as const,
        ]
      : []),
    ...payment.refunds.map((each) => ofRefund(visit, each, currency)),
    ...ofDispute(visit, payment),
  ];
}

function ofAttempt({ language }: MerchantVisit, attempt: PaymentAttempt, advice: string): TimelineItem {
  const texts = textsOf(language).payment;
  const { outcome, failureCode, failureMessage, cardBrand, cardLast4, threeDsResult, createdAt, method } = attempt;
  const isGood = outcome === "succeeded";
  return {
    at: createdAt,
    title: isGood ? texts.attemptSucceeded : texts.attemptFailed,
    tone: isGood ? "good" : "bad",
    details: [
      methodText({ method, card: { brand: cardBrand, last4: cardLast4 } }),
      threeDsResult === "" ? "" : `${texts.threeDs}: ${translateCode(language, "cardChecks", threeDsResult)}`,
      failureCode === "" ? "" : html`${translateCode(language, "failures", failureCode)} <code>${failureCode}</code>`,
      failureMessage === "" ? "" : fillText(texts.processorMessage, { words: failureMessage }),
      advice === "" ? "" : translateCode(language, "failures", advice),
    ],
  };
}

function ofRefund({ language }: MerchantVisit, refund: Refund, currency: string): TimelineItem {
  const texts = textsOf(language).payment;
  const { text, tone } = stateOf(language, "moneyStates", refund.status);
  return {
    at: refund.createdAt,
    title: html`${fillText(texts.refundOf, { amount: moneyText(language, refund.amount, currency) })} ${toneChip(text, tone)}`,
    tone,
    details: [
      translateCode(language, "reasons", refund.reason),
      refund.failureCode === "" ? "" : translateCode(language, "failures", refund.failureCode),
      refund.failureMessage === "" ? "" : fillText(texts.processorMessage, { words: refund.failureMessage }),
      html`<code>${refund.id}</code>`,
    ],
  };
}

function ofDispute({ base, language }: MerchantVisit, { dispute, currency }: Payment): readonly TimelineItem[] {
  if (!dispute) return [];
  const texts = textsOf(language).payment;
  const { text, tone } = stateOf(language, "moneyStates", dispute.status);
  return [
    {
      at: dispute.openedAt,
      title: html`<a href="${base}/disputes/${dispute.id}">${fillText(texts.disputeOf, { amount: moneyText(language, dispute.amount, currency) })}</a> ${toneChip(text, tone)}`,
      tone: "bad",
      details: [
        translateCode(language, "reasons", dispute.reason),
        dispute.evidenceDueAt ? html`${texts.due} ${dayText(language, dispute.evidenceDueAt)}` : "",
      ],
    },
  ];
}

function ofDelivery(
  { base, language }: MerchantVisit,
  { endpointId, delivery }: PaymentDelivery,
  endpoints: Story["endpoints"],
): TimelineItem {
  const texts = textsOf(language).payment;
  const { id = "", eventType = "", delivered = false, failed = false, attempts = 0, statusCode = 0 } = delivery ?? {};
  const text = delivered ? texts.delivered : failed ? texts.undelivered : texts.retrying;
  const status = statusCode === 0 ? texts.noAnswer : String(statusCode);
  const host = hostOf(endpoints.get(endpointId) ?? "");
  const title = fillText(host === "" ? texts.deliveryOf : texts.deliveryTo, { event: eventType, host });
  const next = delivery?.nextAttemptAt;
  return {
    at: delivery?.createdAt,
    title: html`<a href="${base}/webhooks/${endpointId}/deliveries/${id}">${title}</a>`,
    tone: delivered ? "good" : failed || attempts > 0 ? "bad" : "wait",
    details: [
      attempts === 0 ? texts.sending : fillText(text, { status, attempts }),
      delivery?.lastError ?? "",
      next && attempts > 0 ? html`${texts.nextTry} ${preciseTimeText(language, next)}` : "",
    ],
  };
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

function ofAuditEntry({ language }: MerchantVisit, entry: AuditEntry, names: Story["names"]): TimelineItem {
  const texts = textsOf(language).payment;
  return {
    at: entry.occurredAt,
    title: translateCode(language, "paymentActs", entry.action),
    details: [`${texts.by} ${actorName(language, entry.actor, names)}`],
  };
}

function actorName(language: MerchantVisit["language"], actor: string, names: Story["names"]): string {
  const texts = textsOf(language).payment;
  if (actor.startsWith("usr_")) return names.get(actor) ?? texts.formerMember;
  if (actor.startsWith("ak_")) return fillText(texts.byKey, { key: names.get(actor) ?? actor });
  return actor === "operator" ? texts.byOperator : actor === "" ? texts.byService : actor;
}

/** Microseconds of this century fit into a number. */
function microsOf({ at }: TimelineItem): number {
  return at ? Number(at.seconds) * 1_000_000 + Math.floor(at.nanos / 1_000) : 0;
}

/** Undefined during an outage; empty deliveries if the person may not see them. */
interface Story {
  readonly deliveries: readonly PaymentDelivery[] | undefined;
  readonly acts: readonly AuditEntry[] | undefined;
  /** By `usr_…` or `ak_…`. */
  readonly names: ReadonlyMap<string, string>;
  /** URLs by `whk_…`; without those of deleted endpoints. */
  readonly endpoints: ReadonlyMap<string, string>;
}

// More than a payment ever had.
const actsMax = 200;

export async function loadStory(context: ConsoleContext, visit: MerchantVisit, paymentId: string): Promise<Story> {
  const { merchantId, environment, may } = visit;
  const { webhooks, audit } = context.peers;
  const nothing = Promise.resolve({ value: { deliveries: [] } });
  const [deliveries, endpoints, acts] = await Promise.all([
    may("webhooks.read")
      ? unlessAway(() => webhooks.listPaymentDeliveries({ merchantId, environment, paymentId }))
      : nothing,
    may("webhooks.read") ? endpointsOf(context, visit) : new Map<string, string>(),
    // Everyone who may read a payment may see what colleagues did with it.
    unlessAway(() => audit.listAuditEntries({ merchantId, environment, paymentId, pageSize: actsMax })),
  ]);
  const entries = acts?.value.entries;
  return {
    deliveries: deliveries?.value.deliveries,
    acts: entries,
    endpoints,
    names: await namesOf(context, visit, entries?.map(({ actor }) => actor) ?? []),
  };
}

/** Names of people and keys. Without an answer the timeline shows ids. */
async function namesOf(context: ConsoleContext, visit: MerchantVisit, actors: readonly string[]) {
  const { merchantId, environment } = visit;
  const keyIds = visit.may("keys.read") ? [...new Set(actors.filter((actor) => isId("apiKey", actor)))] : [];
  const loadKey = async (apiKeyId: string) => {
    const { apiKey } = await context.peers.apiKeys.getApiKey({ merchantId, environment, apiKeyId });
    return [apiKeyId, apiKey ? `${apiKey.name} ····${apiKey.suffix}` : apiKeyId] as const;
  };
  const [people, ...keys] = await Promise.all([
    peopleOf(context, visit, actors),
    ...keyIds.map((id) => loadKey(id).catch(() => [id, id] as const)),
  ]);
  return new Map([...people, ...keys]);
}
