// The hosted checkout page: opens its link, lets the SDK follow the session, and shows the screen of each state. The SDK decides what
// is true; this file only shows it.
import type { CheckoutError, HandleState, SessionView } from "../sdk/contract.ts";
import { createHandle } from "../sdk/handle.ts";
import type { PageTexts } from "../texts/page-texts.ts";
import { declineText } from "./decline-text.ts";
import { fill, make } from "./element.ts";
import { endOf, forgetSecret, isPaying, notePaying, openedSession, openLink, type PageLink } from "./link.ts";
import { applyLook } from "./look.ts";
import { backLink, type MessageParts, message, retryButton } from "./message.ts";
import { paidScreen } from "./paid.ts";
import { type PayView, payView } from "./pay-view.ts";
import { summary, support } from "./summary.ts";

interface PageData {
  readonly locale: string;
  readonly texts: PageTexts;
}

const slowMs = 4_000;
const processingSlowMs = 15_000;
const processingLongMs = 60_000;
// After a reload in the middle of a payment: how often the session is read, and how long.
const againMs = 3_000;
const againForMs = 30_000;

const { locale, texts }: PageData = JSON.parse(document.getElementById("data")?.textContent ?? "{}");
const page = document.getElementById("page") ?? document.body;
const link = openLink();
// A new link pasted into this tab changes the fragment only.
addEventListener("hashchange", () => location.reload());

if (link) start(link);
else show(withoutLink());

/** A reload after the end, when the secret is gone, or a link that was never whole. */
function withoutLink(): MessageParts {
  const text = texts.invalidText;
  switch (endOf(openedSession())) {
    case "succeeded":
      return { sign: "done", title: texts.alreadyTitle, text: texts.paidText };
    case "expired":
      return { sign: "attention", title: texts.expiredTitle, text };
    case "canceled":
      return { sign: "attention", title: texts.canceledTitle, text };
    default:
      return { sign: "attention", title: texts.invalidTitle, text };
  }
}

function start({ sessionId, secret }: PageLink): void {
  const handle = createHandle(
    {
      sessionSecret: secret,
      locale,
      title: texts.cardDetails,
      returnUrl: location.origin + location.pathname,
      messages: {
        incomplete: texts.incomplete,
        offline: texts.offline,
        timeout: texts.offline,
        rate_limited: texts.rateLimited,
        connector_error: texts.notCharged,
        server_error: texts.serverText,
      },
    },
    location.origin,
  );
  const slow = setTimeout(() => {
    document.getElementById("skeleton")?.append(make("p", {}, texts.slow));
  }, slowMs);
  let panel: HTMLElement | undefined;
  let pay: PayView | undefined;
  let screen: HTMLElement | undefined;
  let hasPaidHere = isPaying(sessionId);
  let lastError: CheckoutError | undefined;

  const open = (session: SessionView) => {
    clearTimeout(slow);
    const appearance = applyLook(document.documentElement, session.branding);
    handle.setAppearance(appearance);
    const { amount, merchant, livemode } = session;
    const testBar = document.getElementById("test-bar");
    if (testBar) testBar.hidden = livemode !== false;
    document.title = amount ? `${amount.formatted} · ${merchant.displayName}` : merchant.displayName;
    panel = make("section", { class: "panel" });
    page.replaceChildren(summary(session, texts), panel);
  };
  const showPay = (session: SessionView, state: HandleState) => {
    if (!pay) {
      pay = payView(session, texts, locale, { pay: payNow, fill: (number) => handle.fillTestCard(number) });
      panel?.replaceChildren(pay.element);
      void handle.mount(pay.fields);
    }
    // The fields are never moved in the document: a frame that is moved loads anew and forgets what was typed.
    screen?.remove();
    showOrder(true);
    pay.element.hidden = false;
    pay.show(state);
  };
  /** In place of the fields; they stay behind it where they may be needed again. */
  const tell = (parts: MessageParts, keepsFields = false) => {
    if (!panel) return show(parts);
    screen?.remove();
    screen = message(parts);
    showOrder(false); // the heading is the message now
    if (keepsFields && pay) pay.element.hidden = true;
    else panel.replaceChildren();
    panel.append(screen);
    reach(screen);
    return screen;
  };
  const showProcessing = (session: SessionView) => {
    const reference = session.payment && ([texts.reference, session.payment.id] as const);
    const parts: MessageParts = { sign: "wait", title: texts.processingTitle, text: texts.processingText };
    // The place for the fields is kept ready: the payment may come to nothing.
    if (!pay) showPay(session, "loading");
    const shown = tell(parts, true);
    const say = (text: string, isLong: boolean) => {
      if (!shown.isConnected) return;
      const paragraph = shown.querySelector(".message-text");
      if (paragraph) paragraph.textContent = text;
      announce(text);
      if (isLong && reference) {
        const [label, value] = reference;
        const row = make("div", {}, make("dt", {}, label), make("dd", {}, value));
        shown.append(make("dl", { class: "facts" }, row), support(session, texts) ?? "");
      }
    };
    setTimeout(say, processingSlowMs, texts.processingSlow, false);
    setTimeout(say, processingLongMs, texts.processingLong, true);
  };
  const showFailure = (error: CheckoutError | undefined) => {
    const session = handle.session;
    const actions = [retryButton(texts)];
    const note = error?.requestId ? make("p", { class: "request-id", dir: "ltr" }, error.requestId) : undefined;
    switch (error?.code) {
      case "invalid_secret":
      case "api_key_in_browser":
        return tell({ sign: "attention", title: texts.invalidTitle, text: texts.invalidText });
      case "offline":
      case "timeout":
        if (!session) return tell({ sign: "attention", title: texts.offlineTitle, text: texts.offlineText, actions });
        return tell({ sign: "attention", title: texts.formTitle, text: texts.formText, actions });
      case "load_failed":
        return tell({ sign: "attention", title: texts.formTitle, text: texts.formText, actions });
      case "unsupported_surface": {
        const text = fill(texts.unavailableText, { merchant: session?.merchant.displayName ?? "" });
        return tell({ sign: "attention", title: texts.unavailableTitle, text });
      }
      default:
        return tell({ sign: "attention", title: texts.serverTitle, text: texts.serverText, actions, note });
    }
  };
  const showEnd = (session: SessionView, title: string, text: string) => {
    const merchant = session.merchant.displayName;
    const back = backLink(session, session.cancelUrl, session.status, fill(texts.back, { merchant }));
    tell({ sign: "attention", title, text: fill(text, { merchant }), actions: [back] });
  };

  const render = (state: HandleState) => {
    const { session } = handle;
    if (!session) return state === "failed" ? showFailure(lastError) : undefined;
    if (!panel) open(session);
    guardLeaving(state === "submitting");
    switch (state) {
      case "idle":
      case "loading":
      case "ready":
      case "submitting":
      case "action_required":
        if (state === "submitting") {
          hasPaidHere = true;
          notePaying(sessionId, true);
          pay?.warn(undefined);
          announce(texts.submitting);
        }
        return showPay(session, state);
      case "processing":
        return showProcessing(session);
      case "succeeded": {
        forgetSecret(sessionId, state);
        const paid = paidScreen(session, texts, hasPaidHere);
        showOrder(false);
        panel?.replaceChildren(paid);
        return reach(paid);
      }
      case "expired":
        forgetSecret(sessionId, state);
        return showEnd(session, texts.expiredTitle, texts.expiredText);
      case "canceled":
        forgetSecret(sessionId, state);
        return showEnd(session, texts.canceledTitle, texts.canceledText);
      case "failed":
        return showFailure(lastError);
    }
  };

  handle.on("state", (state) => queueMicrotask(() => state === handle.state && render(state)));
  handle.on("ready", () => pay?.offer(handle.testCards));
  handle.on("submit_requested", payNow);
  handle.on("action_required", ({ kind }) => {
    if (kind === "redirect") guardLeaving(false);
    announce(kind === "redirect" ? texts.redirectText : texts.challengeTitle);
  });
  handle.on("declined", ({ declineCode }) => {
    notePaying(sessionId, false);
    queueMicrotask(() => warn(declineText(declineCode, texts), true));
  });
  handle.on("connection", ({ online }) => {
    if (handle.state === "ready" || handle.state === "processing") announce(online ? "" : texts.offline);
  });
  handle.on("error", (error) => {
    lastError = error;
    if (error.code === "connector_error") queueMicrotask(() => warn(error.message, true));
  });
  function payNow(): void {
    void handle.confirm().then(complain);
  }
  const warn = (text: string, isFocused: boolean) => pay?.warn(text, isFocused);
  const complain = (result: Awaited<ReturnType<typeof handle.confirm>>) => {
    if (result.type !== "error") return;
    notePaying(sessionId, false);
    if (result.error.code === "connector_error") return; // told by its event, also when nobody pressed Pay
    if (handle.state === "ready") warn(result.error.message, result.error.code !== "incomplete");
  };
  void handle.load();
  // A reload in the middle of a payment: it may end any moment.
  const again = hasPaidHere ? setInterval(() => handle.state === "ready" && void handle.refresh(), againMs) : undefined;
  setTimeout(() => clearInterval(again), againForMs);
}

/** A page without the session's look, before or instead of it. */
function show(parts: MessageParts): HTMLElement {
  const screen = message(parts);
  page.replaceChildren(make("section", { class: "panel panel-alone" }, screen));
  reach(screen);
  return screen;
}

/** Moves a screen reader and the keyboard to what is new. */
function reach(screen: HTMLElement): void {
  screen.querySelector("h1")?.focus();
}

/** What is to be paid, beside the fields. */
function showOrder(isShown: boolean): void {
  const order = page.querySelector<HTMLElement>(".order");
  if (order) order.hidden = !isShown;
}

function announce(text: string): void {
  const live = document.getElementById("live");
  if (live) live.textContent = text;
}

let isLeavingGuarded = false;

/** While the card is being sent, the browser asks before it leaves. Leaving loses nothing: the link shows how the payment stands. */
function guardLeaving(isGuarded: boolean): void {
  if (isGuarded === isLeavingGuarded) return;
  isLeavingGuarded = isGuarded;
  if (isGuarded) addEventListener("beforeunload", askBeforeLeaving);
  else removeEventListener("beforeunload", askBeforeLeaving);
}

function askBeforeLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
