// A screen that says how things stand, in place of the fields: a sign, a heading, a few words, what can be done.
import type { SessionView } from "../sdk/contract.ts";
import type { PageTexts } from "../texts/page-texts.ts";
import { makeElement } from "./element.ts";
import { returnAddress } from "./return-address.ts";

export type Sign = "done" | "wait" | "attention";

export interface MessageParts {
  readonly sign: Sign;
  readonly title: string;
  readonly text: string;
  /** What was bought, before the facts. */
  readonly lines?: HTMLElement | undefined;
  /** Label and value. */
  readonly facts?: readonly (readonly [string, string])[];
  readonly actions?: readonly (HTMLElement | undefined)[];
  /** Small print, such as a request's id for support. */
  readonly note?: HTMLElement | undefined;
}

export function message({ sign, title, text, lines, facts = [], actions = [], note }: MessageParts): HTMLElement {
  const list = makeElement("dl", { class: "facts" });
  for (const [label, value] of facts) {
    list.append(makeElement("div", {}, makeElement("dt", {}, label), makeElement("dd", { dir: "auto" }, value)));
  }
  return makeElement(
    "div",
    { class: "message" },
    makeElement("div", { class: `sign sign-${sign}`, "aria-hidden": "true" }),
    makeElement("h1", { tabindex: "-1" }, title),
    makeElement("p", { class: "message-text" }, text),
    lines,
    facts.length > 0 && list,
    ...actions,
    note,
  );
}

export function retryButton(texts: PageTexts): HTMLElement {
  const button = makeElement("button", { class: "pay", type: "button" }, texts.retry);
  // The whole page anew: a server that was away may not have told it where the fields come from.
  button.addEventListener("click", () => location.reload());
  return button;
}

export function receiptLink({ receiptUrl }: SessionView, texts: PageTexts): HTMLElement | undefined {
  if (!receiptUrl) return undefined;
  const link = makeElement("a", { href: receiptUrl, target: "_blank", rel: "noopener noreferrer" }, texts.receipt);
  return makeElement("p", { class: "receipt" }, link);
}

export function backLink(session: SessionView, address: string | undefined, status: string, text: string) {
  if (!address) return undefined;
  return makeElement("a", { class: "pay", href: returnAddress(address, session.id, status), rel: "noreferrer" }, text);
}
