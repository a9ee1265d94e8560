// One delivery with its attempts and responses, which can be resent; and the progress of a run that retries all failed
// ones. Both pages refresh until there is a result.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import type { Attempt, Delivery } from "#proto/webhook/v1/webhook_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf, queryOf } from "../../http/address.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { fillText, type Language, textsOf } from "../../texts/texts.ts";
import { postForm } from "../../view/forms.ts";
import { codeBlock, renderCopyable, toneChip } from "../../view/pieces.ts";
import { factList, htmlTable } from "../../view/table.ts";
import { countText, dateTimeText, prettyJson } from "../../view/values.ts";
import { answerOf, deliveryChip } from "./webhook.ts";
import { endpointOf } from "./webhooks.ts";

const refreshSeconds = "3";
// An attempt that is due; the first retry of a failed one comes later.
const soonMs = 15_000;

export function deliveryRoutes(context: ConsoleContext): void {
  const { peers } = context;
  merchantPage(context, "/webhooks/:id/deliveries/:did", "webhooks.read", (visit) => deliveryPage(context, visit));
  merchantForm(context, "/webhooks/:id/deliveries/:did/retry", { action: "webhooks.write" }, async (visit) => {
    const { merchantId, environment, base } = visit;
    const [endpointId, deliveryId] = [paramOf(visit, "id"), paramOf(visit, "did")];
    await peers.webhooks.retryDelivery({ merchantId, environment, endpointId, deliveryId });
    return { go: `${base}/webhooks/${endpointId}/deliveries/${deliveryId}`, done: "delivery-queued" };
  });
  merchantPage(context, "/webhooks/:id/runs/:run", "webhooks.read", (visit) => runPage(context, visit));
}

async function deliveryPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).webhooks;
  const endpoint = await endpointOf(context, visit);
  const ids = { endpointId: endpoint.id, deliveryId: paramOf(visit, "did") };
  const { delivery, attempts } = await context.peers.webhooks.getDelivery({ merchantId, environment, ...ids });
  if (!delivery) throw new Failure("NOT_FOUND");
  const endpointPath = `${base}/webhooks/${endpoint.id}`;
  if (isAwaited(visit, delivery)) visit.reply.header("refresh", refreshSeconds);
  return {
    title: `${texts.delivery} ${delivery.eventType}`,
    body: html`<h1>${delivery.eventType}</h1>
${deliveryFacts(language, delivery, html`<a href="${endpointPath}">${endpoint.url}</a>`)}
${visit.may("webhooks.write") ? postForm(visit, { action: `${endpointPath}/deliveries/${delivery.id}/retry`, button: texts.retry, layout: "inline" }) : ""}
<h2>${texts.attemptList}</h2>${attemptTable(language, attempts)}
<h2>${texts.body}</h2>${codeBlock(language, prettyJson(delivery.payload))}`,
  };
}

/** True after a resend or test, until that attempt has ended. */
function isAwaited(visit: MerchantVisit, { nextAttemptAt }: Delivery): boolean {
  if (queryOf(visit).get("done") !== "delivery-queued" || !nextAttemptAt) return false;
  return timestampMs(nextAttemptAt) < Date.now() + soonMs;
}

function deliveryFacts(language: Language, delivery: Delivery, endpoint: Html): Html {
  const texts = textsOf(language).webhooks;
  return factList([
    [texts.status, deliveryChip(language, delivery)],
    [texts.endpoint, endpoint],
    [texts.answer, answerOf(delivery)],
    [texts.next, dateTimeText(language, delivery.nextAttemptAt)],
    [texts.queued, dateTimeText(language, delivery.createdAt)],
    ["Service-Delivery", renderCopyable(language, delivery.id)],
  ]);
}

function attemptTable(language: Language, attempts: readonly Attempt[]): Html {
  const texts = textsOf(language).webhooks;
  return htmlTable({
    caption: texts.attemptList,
    rows: attempts,
    empty: texts.noAttempt,
    columns: [
      { heading: texts.at, cell: ({ startedAt }) => dateTimeText(language, startedAt) },
      { heading: texts.why, cell: ({ trigger }) => triggerText(language, trigger) },
      { heading: texts.answer, cell: (attempt) => attemptAnswer(language, attempt) },
      {
        heading: texts.took,
        cell: ({ durationMs, dnsMs, connectMs, tlsMs, firstByteMs }) =>
          html`<span>${countText(language, durationMs)} ms<br><span class="muted">${fillText(texts.parts, { dns: dnsMs, connect: connectMs, tls: tlsMs, first: firstByteMs })}</span></span>`,
      },
    ],
  });
}

function attemptAnswer(language: Language, { statusCode, errorCode, responseSnippet }: Attempt): Html {
  const texts = textsOf(language).webhooks;
  const status =
    statusCode === 0
      ? toneChip(texts.noAnswer, "bad")
      : toneChip(String(statusCode), statusCode >= 200 && statusCode < 300 ? "good" : "bad");
  const snippet =
    responseSnippet === ""
      ? ""
      : html`<details class="more"><summary>${texts.snippet}</summary>${codeBlock(language, responseSnippet)}</details>`;
  return html`<div>${status} ${errorCode === "" ? "" : html`<code>${errorCode}</code>`}${snippet}</div>`;
}

function triggerText(language: Language, trigger: string): string {
  const texts = textsOf(language).webhooks;
  if (trigger === "manual") return texts.manual;
  return trigger === "test" ? texts.testTrigger : texts.auto;
}

async function runPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).webhooks;
  const endpoint = await endpointOf(context, visit);
  const { run } = await context.peers.webhooks.getRetryRun({ merchantId, environment, runId: paramOf(visit, "run") });
  if (run?.endpointId !== endpoint.id) throw new Failure("NOT_FOUND");
  const isRunning = run.status === "running";
  if (isRunning) visit.reply.header("refresh", refreshSeconds);
  const endpointPath = `${base}/webhooks/${endpoint.id}`;
  const [queued, total] = [countText(language, run.queued), countText(language, run.total)];
  return {
    title: texts.runTitle,
    body: html`<h1>${texts.runTitle}</h1><p><a href="${endpointPath}">${endpoint.url}</a></p>
<section class="panel"><p>${isRunning ? toneChip(texts.running, "wait") : toneChip(texts.finished, "good")}</p>
<progress max="${String(run.total > 0n ? run.total : 1n)}" value="${String(isRunning ? run.queued : run.total > 0n ? run.total : 1n)}" aria-label="${texts.runTitle}"></progress>
<p role="status">${fillText(texts.runProgress, { queued, total })}</p>${isRunning ? html`<p class="muted">${texts.runNote}</p>` : ""}</section>
<p><a class="button secondary" href="${endpointPath}?status=pending">${texts.deliveries}</a></p>`,
  };
}
