// The payment form: the processor's fields, the Pay button, the last problem and the test cards.
import type { PageTexts } from "../languages.ts";
import type { HandleState, SessionView, TestCard } from "../sdk/contract.ts";
import { returnAddress } from "../session-link.ts";
import { serverNow } from "./around.ts";
import { fillText, makeElement } from "./element.ts";

export interface PayView {
  readonly element: HTMLElement;
  /** Test cards, placed last so that nothing moves when they appear. */
  readonly cards: HTMLElement;
  readonly fields: HTMLElement;
  show(state: HandleState): void;
  warn(text: string | undefined, isFocused?: boolean): void;
  offer(cards: readonly TestCard[]): void;
}

const expiryShownMs = 300_000; // an earlier notice would only put pressure on buyers

interface PayActions {
  pay(): void;
  fill(number: string): void;
}

/** @param email undefined if the buyer is not asked for an e-mail */
export function payView(
  session: SessionView,
  texts: PageTexts,
  locale: string,
  actions: PayActions,
  email?: HTMLElement,
): PayView {
  const isRedirect = session.surface.kind === "redirect";
  const alert = makeElement("div", { class: "notice notice-error", role: "alert", tabindex: "-1", hidden: true });
  const challenge = makeElement(
    "div",
    { class: "challenge", hidden: true },
    makeElement("h1", { tabindex: "-1" }, texts.challengeTitle),
    makeElement("p", {}, texts.challengeText),
  );
  const bones = makeElement("div", { class: "bones", "aria-hidden": "true" });
  for (let rows = 0; rows < 3; rows++) bones.append(makeElement("span", { class: "bone bone-field" }));
  const fields = makeElement("div", { class: "fields" });
  const frame = makeElement("div", { class: isRedirect ? "frame is-empty" : "frame" }, bones, fields);
  const label = isRedirect ? texts.continue : fillText(texts.pay, { amount: session.amount?.formatted ?? "" });
  const labelElement = makeElement("span", { class: "pay-label" }, label);
  const spinner = makeElement("span", { class: "spinner", "aria-hidden": "true" });
  const button = makeElement("button", { class: "pay", type: "button" }, spinner, labelElement);
  const cards = makeElement("div", { class: "test-cards-place" });
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled") !== "true") actions.pay();
  });
  const processor = processorName(session);
  const cardText = processor ? fillText(texts.processedBy, { processor }) : texts.secure;
  const secure = makeElement("p", { class: "secure" }, lock(), isRedirect ? texts.redirectText : cardText);
  const title = fillText(texts.payTo, { merchant: session.merchant.displayName });
  const heading = makeElement("h1", { class: "visually-hidden" }, title);
  const method = makeElement("h2", { class: "method" }, texts.cardDetails);
  const cancel = cancelLink(session, texts);
  const element = makeElement(
    "div",
    { class: "pay-view" },
    alert,
    challenge,
    heading,
    email,
    !isRedirect && method,
    frame,
    button,
    expiry(session, texts, locale),
    secure,
    cancel,
  );

  const show = (state: HandleState) => {
    const isBusy = state === "submitting" || state === "action_required";
    const isReady = state !== "loading" && state !== "idle";
    element.dataset.state = state;
    element.setAttribute("aria-busy", String(state === "submitting"));
    bones.hidden = isReady;
    const isChallenged = state === "action_required" && !isRedirect;
    challenge.hidden = !isChallenged;
    for (const piece of [button, secure, heading, method]) piece.hidden = isChallenged;
    if (email) email.hidden = isChallenged;
    button.setAttribute("aria-disabled", String(isBusy || !isReady));
    button.classList.toggle("is-working", isBusy);
    labelElement.textContent = isBusy ? texts.paying : label;
    cards.hidden = isBusy;
    // The bank's challenge has its own way back to the card.
    if (cancel) cancel.hidden = state === "submitting" || isChallenged;
    if (state === "action_required") challenge.querySelector("h1")?.focus();
  };
  return {
    element,
    cards,
    fields,
    show,
    warn(text, isFocused = false) {
      alert.textContent = text ?? "";
      alert.hidden = text === undefined;
      if (text !== undefined && isFocused) alert.focus();
    },
    offer(list) {
      cards.replaceChildren(...(list.length > 0 ? [testCards(list, actions, button, texts)] : []));
    },
  };
}

/** The processor's labels are in English. */
function testCards(list: readonly TestCard[], actions: PayActions, button: HTMLElement, texts: PageTexts): HTMLElement {
  const rows = list.map(({ number, label }) => {
    const digits = number.replace(/(.{4})(?=.)/g, "$1 ");
    const row = makeElement(
      "button",
      { type: "button", "data-card": number },
      makeElement("span", {}, label),
      makeElement("code", {}, digits),
    );
    row.addEventListener("click", () => {
      actions.fill(number);
      button.focus();
    });
    return makeElement("li", {}, row);
  });
  const items = makeElement("ul", { lang: "en", dir: "ltr" }, ...rows);
  return makeElement("details", { class: "test-cards" }, makeElement("summary", {}, texts.testCards), items);
}

function cancelLink(session: SessionView, texts: PageTexts): HTMLElement | undefined {
  if (!session.cancelUrl) return undefined;
  // The session can still be paid, so the shop gets its current status.
  const href = returnAddress(session.cancelUrl, session.id, session.status);
  return makeElement("p", { class: "cancel" }, makeElement("a", { href, rel: "noreferrer" }, texts.cancel));
}

/** Shows the expiry when it is near, by the server's clock and with the date unless it is today. */
function expiry({ expiresAt }: SessionView, texts: PageTexts, locale: string): HTMLElement {
  const note = makeElement("p", { class: "expiry", role: "status" });
  if (!expiresAt) return note;
  const end = new Date(expiresAt);
  const isToday = end.toDateString() === new Date(serverNow()).toDateString();
  const style = { dateStyle: isToday ? undefined : "medium", timeStyle: "short" } as const;
  const time = new Intl.DateTimeFormat(locale, style).format(end);
  const wait = end.getTime() - serverNow() - expiryShownMs;
  // Limit of a timer, about 24 days.
  if (wait < 2 ** 31) setTimeout(() => (note.textContent = fillText(texts.expires, { time })), Math.max(0, wait));
  return note;
}

function lock(): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute(
    "d",
    "M5 7V5a3 3 0 0 1 6 0v2h1a1 1 0 0 1 1 1v5a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1zm1.5 0h3V5a1.5 1.5 0 0 0-3 0z",
  );
  svg.append(path);
  return svg;
}

/** @param session undefined if only the merchant is known */
export function foot(session: SessionView | undefined, email: string | undefined, texts: PageTexts): HTMLElement {
  const seller = session && legal(session, texts);
  return makeElement("footer", { class: "foot" }, seller, support(email, texts));
}

function support(email: string | undefined, texts: PageTexts): HTMLElement | undefined {
  if (!email) return undefined;
  const [before = "", after = ""] = texts.support.split("{email}");
  const link = makeElement("a", { href: `mailto:${email}` }, makeElement("bdi", {}, email));
  return makeElement("p", { class: "support" }, before, link, after);
}

/** Links open in a new tab and keep the fields. */
function legal({ legal: seller }: SessionView, texts: PageTexts): HTMLElement | undefined {
  if (!seller) return undefined;
  const { name, termsUrl, privacyUrl } = seller;
  const parts: Node[] = [];
  if (name) {
    const [before = "", after = ""] = texts.seller.split("{name}");
    parts.push(makeElement("span", {}, before, makeElement("bdi", {}, name), after));
  }
  for (const [href, label] of [
    [termsUrl, texts.terms],
    [privacyUrl, texts.privacy],
  ] as const) {
    if (href) parts.push(makeElement("a", { href, target: "_blank", rel: "noopener noreferrer" }, label));
  }
  return makeElement("p", { class: "legal" }, ...parts);
}

const processors = new Map([
  ["stripe", "Stripe"],
  ["adyen", "Adyen"],
  ["simulator", "Tollbooth Simulator"],
]);

/** Name of the processor; undefined if buyers do not know it. */
function processorName({ surface }: SessionView): string | undefined {
  return processors.get(surface.connector);
}
