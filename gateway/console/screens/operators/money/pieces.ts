// Pieces that the screens of money share.
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../../docs/html.ts";
import type { OperatorVisit } from "../../../session/visit.ts";
import type { Language } from "../../../texts/both.ts";
import { operatorFormTexts } from "../../../texts/operators/forms.ts";

/** The environment in words; unspecified: both. */
export function placeOf(language: Language, environment: Environment): string {
  const texts = operatorFormTexts[language];
  if (environment === Environment.UNSPECIFIED) return texts.both;
  return environment === Environment.LIVE ? texts.live : texts.sandbox;
}

/** A merchant's id, with the way to it for who may see merchants. */
export function merchantLink(visit: OperatorVisit, merchantId: string): Html {
  const id = html`<code>${merchantId}</code>`;
  return visit.may("merchants.read") ? html`<a href="/merchants/${merchantId}">${id}</a>` : id;
}

/** A payment's id, with the way to its story. */
export function storyLink(paymentId: string): Html | string {
  return paymentId === "" ? "" : html`<a href="/stories/${paymentId}"><code>${paymentId}</code></a>`;
}
