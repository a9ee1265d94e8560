// A live form that takes over the sandbox's values: they are filled in for review, and nothing is saved yet.
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../html.ts";
import { queryOf } from "../http/address.ts";
import type { MerchantVisit } from "../session/visit.ts";
import { textsOf } from "../texts/texts.ts";

/** The environment whose values the form shows. */
export function shownEnvironment(visit: MerchantVisit): Environment {
  return isTakenOver(visit) ? Environment.SANDBOX : visit.environment;
}

/** In live, the link that fills in the sandbox's values, or the note that they are not saved yet. */
export function renderTakeOver(visit: MerchantVisit, path: string, action: string): Html | string {
  const texts = textsOf(visit.language).frame;
  if (visit.environment !== Environment.LIVE || !visit.may(action)) return "";
  if (isTakenOver(visit)) return html`<p class="warning" role="status">${texts.fromSandboxNote}</p>`;
  return html`<p><a href="${visit.base}/${path}?from=sandbox">${texts.fromSandbox}</a></p>`;
}

function isTakenOver(visit: MerchantVisit): boolean {
  const isLink = visit.request.method === "GET" && queryOf(visit).get("from") === "sandbox";
  return isLink && visit.environment === Environment.LIVE;
}
