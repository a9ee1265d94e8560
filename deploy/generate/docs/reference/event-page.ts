// Every delivered webhook event: when it is sent, and its body.
import { html, proseHtml } from "../../../../gateway/html.ts";
import { describedEvents } from "../../../../gateway/openapi/text.ts";
import { codeBlock } from "../code-blocks.ts";
import { eventsAddress } from "../contents.ts";
import type { Highlight } from "../highlight.ts";
import { headingLink } from "../markdown.ts";
import type { SitePage } from "../page-frame.ts";
import { answerExample } from "./answer-example.ts";
import { fieldList } from "./field-list.ts";

const introduction =
  "Sent as POST with a JSON body to every active endpoint that is subscribed. Headers: `Service-Event`, `Service-Delivery`, `Service-Signature: t=<unix seconds>,v1=<hex>`. `v1` is HMAC-SHA256, keyed by the endpoint's whole signing secret, of `t`, a dot and the raw body. While a secret is rolled there are several `v1` values; one of them must match. `webhook-id`, `webhook-timestamp` and `webhook-signature` carry the same for Standard Webhooks libraries, with `standard_secret`.\n\nAny 2xx acknowledges. Any other response is retried after 1, 2, 4, 8, 16, 32 minutes, then hourly, for about 72 hours. Delivery is at-least-once, and each payment has two events: deduplicate on (`type`, `payment_id`, `status`) or a hash of the raw body, not on `Service-Delivery`. Two partial refunds of one payment have the same `payment.refunded` body: read the payment.";

export function eventPage(highlight: Highlight): SitePage {
  const rows = describedEvents.map(({ code, fires, schema }) => {
    const example = JSON.stringify(answerExample({}, schema), null, 2);
    return html`<section class="operation">
${headingLink(2, code, html`<code>${code}</code>`)}
<div class="description">${proseHtml(fires)}${fieldList({}, schema, false, () => undefined)}</div>
<div class="shows">${codeBlock({ language: "json", code: example }, highlight, `${code}: body`)}</div>
</section>`;
  });
  return {
    address: eventsAddress,
    title: "Webhook events",
    name: "Webhook events",
    about: "Every webhook event: when it is sent, and its body.",
    isReference: true,
    body: html`${proseHtml(introduction)}
<p>How to verify, when it is tried again, and how to receive events on your machine: <a href="/docs/webhooks">Webhooks</a>.</p>
${rows}`,
  };
}
