// Previews the payment page with a sample order, in a frame that only the console may show. The preview runs the page's
// own code and has no session and no secret.
import type { FastifyReply } from "fastify";
import { Failure } from "#platform/values/failure.ts";
import { Environment, type GetBrandingResponse } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../html.ts";
import { presentBranding } from "../../../json/branding.ts";
import { type ChosenLanguage, chooseLanguage, languages } from "../../../web/languages.ts";
import { queryOf } from "../../http/address.ts";
import { framedHeaders, sendPage } from "../../http/send-page.ts";
import { dataBlock } from "../../layout/document.ts";
import { previewFiles } from "../../layout/files.ts";
import { merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { filterSelect } from "../../view/filter-form.ts";

const states = [
  "ready",
  "submitting",
  "action_required",
  "declined",
  "processing",
  "succeeded",
  "expired",
  "canceled",
  "unavailable",
] as const;

export function brandingPreviewRoutes(context: ConsoleContext): void {
  merchantPage(context, "/branding/preview", undefined, (visit) => sendPreview(context, visit));
}

/** The script shows and fills the frame. */
export function previewPanel({ language, base }: MerchantVisit): Html {
  const texts = textsOf(language).branding;
  const stateChoices = states.map((value) => ({ value, label: texts[value] }));
  const sizeChoices = (["phone", "desktop"] as const).map((value) => ({ value, label: texts[value] }));
  const names = new Intl.DisplayNames(language, { type: "language" });
  const languageChoices = [...languages.keys()].map((tag) => ({ value: tag, label: names.of(tag) ?? tag }));
  return html`<section class="preview" aria-labelledby="preview-title"><h2 id="preview-title">${texts.preview}</h2>
<noscript><p class="muted">${texts.noScript}</p></noscript>
<div data-preview hidden><p class="muted">${texts.previewNote}</p><div class="filters">
${filterSelect({ name: "preview_state", label: texts.state, value: "ready", choices: stateChoices })}
${filterSelect({ name: "preview_size", label: texts.size, value: "phone", choices: sizeChoices })}
${filterSelect({ name: "preview_language", label: texts.language, value: language, choices: languageChoices })}</div>
<iframe title="${texts.preview}" data-src="${base}/branding/preview" sandbox="allow-scripts allow-same-origin" referrerpolicy="no-referrer"></iframe></div></section>`;
}

async function sendPreview({ peers }: ConsoleContext, visit: MerchantVisit): Promise<FastifyReply> {
  const { merchantId, environment } = visit;
  const stored = await peers.merchants.getBranding({ merchantId, environment });
  if (!stored.branding) throw new Failure("NOT_FOUND");
  const requested = queryOf(visit).get("language") ?? "";
  const language = chooseLanguage([requested, visit.language]);
  const data = JSON.stringify({
    locale: language.tag,
    texts: language.texts,
    merchantName: stored.merchantName,
    labels: labelsOf(visit),
    session: sampleSession(visit, stored),
  });
  return await sendPage(visit.reply, 200, previewDocument(language, data), framedHeaders);
}

/** A session as the API returns it, with an impossible id. */
function sampleSession({ language, environment }: MerchantVisit, stored: GetBrandingResponse) {
  const texts = textsOf(language).branding;
  const { legalName, branding } = stored;
  return {
    id: "cs_preview",
    status: "open",
    environment: environment === Environment.LIVE ? "live" : "sandbox",
    amount: 2_490,
    currency: "EUR",
    description: texts.order,
    line_items: [
      { name: texts.itemOne, quantity: 2, amount: 1_980 },
      { name: texts.itemTwo, quantity: 1, amount: 510 },
    ],
    expires_at: "2099-01-01T00:00:00Z",
    connector: "preview",
    success_url: "https://shop.example/thanks",
    cancel_url: "https://shop.example/cart",
    branding: presentBranding(branding),
    legal: { name: legalName },
  };
}

function labelsOf({ language }: MerchantVisit): readonly string[] {
  const { cardNumber, cardExpiry, cardCode } = textsOf(language).branding;
  return [cardNumber, cardExpiry, cardCode];
}

function previewDocument({ tag, direction, texts }: ChosenLanguage, data: string): Html {
  const { script, style } = previewFiles();
  return html`<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${texts.title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" id="look" href="${style.path}">
<script type="module" src="${script.path}" integrity="${script.integrity}"></script>
</head>
<body>
<header id="test-bar" class="test-bar" hidden><strong>${texts.testMode}</strong> – ${texts.testModeNote}</header>
<main id="page"></main>
<p id="live" class="visually-hidden" role="status"></p>
${dataBlock("preview", data)}
</body>
</html>
`;
}
