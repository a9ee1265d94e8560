// What is told when the payment cannot go on, and what the buyer can do: try again, quote a reference, go back.

import type { PageTexts } from "../../languages.ts";
import type { CheckoutError, SessionView } from "../../sdk/contract.ts";
import { referenceOf } from "../../session-link.ts";
import { fillText } from "../element.ts";
import { backLink, type MessageParts, retryButton } from "./message.ts";

/** What is known of the shop without its session. */
export interface KnownShop {
  readonly sessionId: string;
  readonly name: string | undefined;
  /** The way back to it. */
  readonly address: string | undefined;
}

export function failureMessage(
  error: CheckoutError | undefined,
  session: SessionView | undefined,
  shop: KnownShop,
  texts: PageTexts,
): MessageParts {
  const [title, text, isFinal] = wordsFor(error?.code, session, texts);
  const merchant = session?.merchant.displayName ?? shop.name ?? "";
  const label = fillText(texts.back, { merchant });
  const address = merchant && (session?.cancelUrl ?? shop.address);
  const back = backLink({ id: shop.sessionId }, address || undefined, session?.status ?? "open", label, isFinal);
  // Trouble of ours is found by its request. Whose page it is, is told of sessions alone that are there.
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

/** Title, text, and whether trying again is of no use. */
function wordsFor(
  code: string | undefined,
  session: SessionView | undefined,
  texts: PageTexts,
): readonly [string, string, boolean] {
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
