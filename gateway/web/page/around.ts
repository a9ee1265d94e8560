// What screens have in common with the document around them: focus, the order beside the fields, what is said to a
// screen reader, and whether the browser asks before it leaves.
import { makeElement } from "./element.ts";
import { type MessageParts, message } from "./message.ts";

export const page = document.getElementById("page") ?? document.body;

/** A page without the session's look, before or instead of it. */
export function showMessage(parts: MessageParts): HTMLElement {
  const screen = message(parts);
  page.replaceChildren(makeElement("section", { class: "panel panel-alone" }, screen));
  moveTo(screen);
  return screen;
}

/** Moves a screen reader and the keyboard to what is new. */
export function moveTo(screen: HTMLElement): void {
  screen.querySelector("h1")?.focus();
}

/** What is to be paid, beside the fields. */
export function showOrder(isShown: boolean): void {
  const order = page.querySelector<HTMLElement>(".order");
  if (order) order.hidden = !isShown;
}

export function announce(text: string): void {
  const live = document.getElementById("live");
  if (live) live.textContent = text;
}

let isLeavingGuarded = false;

/**
 * While the card is being sent, the browser asks before it leaves. Leaving loses nothing: the link shows how the
 * payment stands.
 */
export function guardLeaving(isGuarded: boolean): void {
  if (isGuarded === isLeavingGuarded) return;
  isLeavingGuarded = isGuarded;
  if (isGuarded) addEventListener("beforeunload", askBeforeLeaving);
  else removeEventListener("beforeunload", askBeforeLeaving);
}

function askBeforeLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
