// What screens have in common with the document around them: focus, the order beside the fields, what is said to a
// screen reader, and whether the browser asks before it leaves.
import { makeElement } from "./element.ts";
import { type MessageParts, message } from "./messages/message.ts";

export const page = document.getElementById("page") ?? document.body;

/** A page without its session, before or instead of it. @param below what stands under it */
export function showMessage(parts: MessageParts, below?: HTMLElement): HTMLElement {
  const screen = message(parts);
  const merchant = page.querySelector(".merchant[data-known]");
  page.className = merchant ? "is-told" : "is-alone";
  page.replaceChildren(...(merchant ? [merchant] : []), makeElement("section", { class: "panel" }, screen, below));
  moveTo(screen);
  return screen;
}

/** Moves a screen reader and the keyboard to what is new. */
export function moveTo(screen: HTMLElement): void {
  screen.querySelector("h1")?.focus();
}

/** True: a message is the first thing to read, also on a phone, where the order comes after it. */
export function putMessageFirst(isFirst: boolean): void {
  page.className = isFirst ? "is-told" : "";
}

export function announce(text: string): void {
  const live = document.getElementById("live");
  if (live) live.textContent = text;
}

let serverAheadMs = 0;

/** The buyer's clock may be days off; the server sent its time with the page. */
export function setServerTime(nowMs = Date.now()): void {
  serverAheadMs = nowMs - Date.now();
}

export function serverNow(): number {
  return Date.now() + serverAheadMs;
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
