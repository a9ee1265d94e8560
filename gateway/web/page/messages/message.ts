// A message screen instead of the fields: sign, heading, text, facts and actions.
import type { PageTexts } from "../../languages.ts";
import type { CheckoutError, SessionView } from "../../sdk/contract.ts";
import { referenceOf, returnAddress } from "../../session-link.ts";
import { fillText, makeElement } from "../element.ts";

type Sign = "done" | "wait" | "attention";

export interface MessageParts {
  readonly sign: Sign;
  readonly title: string;
  readonly text: string;
  readonly facts?: readonly (readonly [string, string])[];
  readonly actions?: readonly (HTMLElement | undefined)[];
  readonly note?: HTMLElement | undefined;
}

export function message({ sign, title, text, facts = [], actions = [], note }: MessageParts): HTMLElement {
  const list = makeElement("dl", { class: "facts" });
  for (const [label, value] of facts) {
    const shown = makeElement("dd", {}, makeElement("bdi", {}, value));
    list.append(makeElement("div", {}, makeElement("dt", {}, label), shown));
  }
  return makeElement(
    "div",
    { class: "message" },
    makeElement("div", { class: `sign sign-${sign}`, "aria-hidden": "true" }),
    makeElement("h1", { tabindex: "-1" }, title),
    makeElement("p", { class: "message-text" }, text),
    facts.length > 0 && list,
    ...actions,
    note,
  );
}

function retryButton(texts: PageTexts): HTMLElement {
  const button = makeElement("button", { class: "pay", type: "button" }, texts.retry);
  // Reloads the whole page: a server that was unavailable may not have sent the surface's origin.
  button.addEventListener("click", () => location.reload());
  return button;
}

/** @param isMain styles the link as the main action */
export function backLink(
  session: Pick<SessionView, "id">,
  address: string | undefined,
  status: string,
  text: string,
  isMain = true,
): HTMLElement | undefined {
  if (!address) return undefined;
  const href = returnAddress(address, session.id, status);
  return makeElement("a", { class: isMain ? "pay" : "quiet", href, rel: "noreferrer" }, text);
}

/** The shop as far as it is known without the session. */
interface ShopLink {
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
