// Shared functions of the screens: focus, layout, screen reader announcements, server time and the leave warning.
import { makeElement } from "./element.ts";
import { type MessageParts, message } from "./messages/message.ts";

export const page = document.getElementById("page") ?? document.body;

/** Shows a message without a session. @param below element under it */
export function showMessage(parts: MessageParts, below?: HTMLElement): HTMLElement {
  const screen = message(parts);
  const merchant = page.querySelector(".merchant[data-known]");
  page.className = merchant ? "is-message" : "is-alone";
  page.replaceChildren(...(merchant ? [merchant] : []), makeElement("section", { class: "panel" }, screen, below));
  moveTo(screen);
  return screen;
}

/** Moves the focus of keyboard and screen reader to a new screen. */
export function moveTo(screen: HTMLElement): void {
  screen.querySelector("h1")?.focus();
}

/** True: the message comes before the order on a phone. */
export function putMessageFirst(isFirst: boolean): void {
  page.className = isFirst ? "is-message" : "";
}

export function announce(text: string): void {
  const live = document.getElementById("live");
  if (live) live.textContent = text;
}

let serverAheadMs = 0;

/** The buyer's clock may be wrong, so the page contains the server's time. */
export function setServerTime(nowMs = Date.now()): void {
  serverAheadMs = nowMs - Date.now();
}

export function serverNow(): number {
  return Date.now() + serverAheadMs;
}

let isLeavingGuarded = false;

/**
 * Makes the browser ask before leaving while the card is sent. Leaving loses nothing: the link shows the payment's
 * state.
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
