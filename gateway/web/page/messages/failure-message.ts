// The message when the payment cannot continue, with retry, reference and return link.

import type { PageTexts } from "../../languages.ts";
import type { CheckoutError, SessionView } from "../../sdk/contract.ts";
import { referenceOf } from "../../session-link.ts";
import { fillText } from "../element.ts";
import { backLink, type MessageParts, retryButton } from "./message.ts";

/** The shop as far as it is known without the session. */
export interface ShopLink {
  readonly sessionId: string;
  readonly name: string | undefined;
  readonly address: string | undefined;
}

export function failureMessage(
  error: CheckoutError | undefined,
  session: SessionView | undefined,
  shop: ShopLink,
  texts: PageTexts,
): MessageParts {
  const [title, text, isFinal] = textsFor(error?.code, session, texts);
  const merchant = session?.merchant.displayName ?? shop.name ?? "";
  const label = fillText(texts.back, { merchant });
  const address = merchant && (session?.cancelUrl ?? shop.address);
  const back = backLink({ id: shop.sessionId }, address || undefined, session?.status ?? "open", label, isFinal);
  // A server error is found by its request id.
  const request = session || error?.code === "invalid_secret" ? undefined : error?.requestId;
  const reference = request ?? (merchant && referenceOf(session ?? { id: shop.sessionId }));
  return {
    sign: "attention",
    title,
    text: fillText(text, { merchant }),
    facts: reference ? [[texts.reference, reference]] : [],
    actions: [isFinal ? undefined : retryButton(texts), back],
  };
}

function textsFor(
  code: string | undefined,
  session: SessionView | undefined,
  texts: PageTexts,
): readonly [title: string, text: string, isFinal: boolean] {
  switch (code) {
    case "invalid_secret":
    case "api_key_in_browser":
      return [texts.invalidTitle, texts.invalidText, true];
    case "unsupported_surface":
      return [texts.unavailableTitle, texts.unavailableText, true];
    case "offline":
    case "timeout":
      if (!session) return [texts.offlineTitle, texts.offlineText, false];
      return [texts.formTitle, texts.formText, false];
    case "load_failed":
    case "csp_blocked":
      return [texts.formTitle, texts.formText, false];
    default:
      return [texts.serverTitle, texts.serverText, false];
  }
}
