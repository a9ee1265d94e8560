// Shows an endpoint's signing secret once, with code that verifies signatures, and rolls the secret.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Endpoint } from "#proto/webhook/v1/webhook_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf } from "../../http/address.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { type Language, textsOf } from "../../texts/texts.ts";
import { questionPage } from "../../view/forms.ts";
import { codeBlock, secretOnce } from "../../view/pieces.ts";
import { endpointOf } from "./webhooks.ts";

const samplesFolder = join(import.meta.dirname, "../../../docs/samples");
const samples = [
  ["Node", "verify-webhook.mjs"],
  ["Python", "verify_webhook.py"],
  ["Go", "verify_webhook.go"],
] as const;

/** Shops act on events that a live secret signs, so showing one needs fresh proof. */
export const secretNeeds = {
  action: "webhooks.write",
  proof: ({ environment }: MerchantVisit) => environment === Environment.LIVE,
};

export function signingSecretRoutes(context: ConsoleContext): void {
  const { peers } = context;
  merchantPage(context, "/webhooks/:id/roll", "webhooks.write", async (visit) => {
    const texts = textsOf(visit.language).webhooks;
    const { id, url } = await endpointOf(context, visit);
    const endpointPath = `${visit.base}/webhooks/${id}`;
    return questionPage(visit, {
      title: texts.rollTitle,
      text: html`<p>${url}</p><p>${texts.rollText}</p>`,
      action: `${endpointPath}/roll`,
      button: texts.roll,
      isHarmless: true,
      back: endpointPath,
    });
  });
  merchantForm(context, "/webhooks/:id/roll", secretNeeds, async (visit) => {
    const { merchantId, environment } = visit;
    const endpointId = paramOf(visit, "id");
    const rolled = await peers.webhooks.rollEndpointSecret({ merchantId, environment, endpointId });
    return secretPage(visit, rolled, "rolledTitle");
  });
}

/** An empty secret means that it was shown before. */
export function secretPage(
  { language, base }: MerchantVisit,
  { endpoint, signingSecret }: { readonly endpoint?: Endpoint | undefined; readonly signingSecret: string },
  titleName: "addedTitle" | "rolledTitle" | "repeatedTitle",
): Page {
  const texts = textsOf(language).webhooks;
  const title = texts[titleName];
  const shown =
    signingSecret === "" ? html`<p>${texts.repeatedText}</p>` : secretOnce(language, texts.secret, signingSecret);
  return {
    title,
    body: html`<h1>${title}</h1><p>${endpoint?.url ?? ""}</p>${shown}
${verifyingCode(language, true)}
<p><a class="button" href="${base}/webhooks/${endpoint?.id ?? ""}">${texts.toEndpoint}</a></p>`,
  };
}

export function verifyingCode(language: Language, isOpen = false): Html {
  const texts = textsOf(language).webhooks;
  const blocks = samples.map(
    ([name, file], i) =>
      html`<details class="more" name="sample"${i === 0 && isOpen ? html` open` : ""}><summary>${name}</summary>${codeBlock(language, sampleText(file))}</details>`,
  );
  return html`<section class="panel"><h2>${texts.verify}</h2><p class="muted">${texts.verifyText}</p>${blocks}</section>`;
}

const sampleTexts = new Map<string, string>();

function sampleText(file: string): string {
  const text = sampleTexts.get(file) ?? readFileSync(join(samplesFolder, file), "utf8").trimEnd();
  sampleTexts.set(file, text);
  return text;
}
