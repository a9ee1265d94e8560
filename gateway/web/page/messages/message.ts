// A message screen instead of the fields: sign, heading, text, facts and actions.

import type { PageTexts } from "../../languages.ts";
import type { SessionView } from "../../sdk/contract.ts";
import { makeElement } from "../element.ts";
import { returnAddress } from "../link.ts";

export type Sign = "done" | "wait" | "attention";

export interface MessageParts {
  readonly sign: Sign;
  readonly title: string;
  readonly text: string;
  /** Label and value. */
  readonly facts?: readonly (readonly [string, string])[];
  readonly actions?: readonly (HTMLElement | undefined)[];
  /** For example a countdown. */
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

export function retryButton(texts: PageTexts): HTMLElement {
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
