// The hosted checkout page: opens its link, lets the SDK follow the session, and shows the screen of each state. The
// SDK decides what is true; this file only shows it.

import type { PageTexts } from "../languages.ts";
import type { ConfirmResult } from "../sdk/contract.ts";
import { createHandle } from "../sdk/handle/handle.ts";
import { referenceOf } from "../session-link.ts";
import { announce, guardLeaving, setServerTime, showMessage } from "./around.ts";
import { declineText } from "./decline-text.ts";
import { fillText } from "./element.ts";
import { giverOf } from "./email-field.ts";
import { foot } from "./foot.ts";
import { type CodeFile, handOver } from "./hand-over/hand-over.ts";
import { endOf, notePaying, openedSession, openLink, type PageLink, readReturnUrl } from "./link.ts";
import { backLink, type MessageParts } from "./messages/message.ts";
import { followReturn } from "./messages/returned.ts";
import { Screens } from "./screens.ts";
import { replaceBrokenLogo } from "./summary.ts";
import { walletButtons } from "./wallets.ts";

interface PageData {
  readonly locale: string;
  readonly texts: PageTexts;
  /** Of the style sheet, without a look. */
  readonly style: string;
  /** What draws the link for another device's camera. */
  readonly code: CodeFile;
  /** Undefined: the server could not say whose page it is. */
  readonly merchant?: { readonly name: string; readonly email?: string };
  /** The server's clock, milliseconds. */
  readonly now?: number;
}

// After a reload in the middle of a payment: how often the session is read, and how long.
const againMs = 3_000;
const againForMs = 30_000;

const { locale, texts, style, code, merchant, now }: PageData = JSON.parse(
  document.getElementById("data")?.textContent ?? "{}",
);
setServerTime(now);
const link = isSupported() ? openLink() : undefined;
const returnToken = new URLSearchParams(location.search).get("return");
// A new link pasted into this tab changes the fragment only.
addEventListener("hashchange", () => location.reload());

const header = document.querySelector<HTMLElement>(".merchant[data-known]");
if (header && merchant) replaceBrokenLogo(header, merchant.name);

if (!isSupported()) {
  const words = { title: texts.unsupportedTitle, text: texts.unsupportedText };
  showAlone({ ...words, sign: "attention" });
} else if (link) start(link);
else if (returnToken && !endOf(openedSession())) {
  const shop = { sessionId: openedSession(), name: merchant?.name };
  followReturn(shop, returnToken, texts, (parts) => showAlone(parts ?? withoutLink()));
} else showAlone(withoutLink());

function showAlone(parts: MessageParts): void {
  showMessage(parts, foot(undefined, merchant?.email, texts));
}

/** The newest features that the page needs, and that a browser may lack which can read its syntax. */
function isSupported(): boolean {
  return "hasOwn" in Object && typeof HTMLDialogElement === "function";
}

/** A reload after the end, when the secret is gone, or a link that was never whole. */
function withoutLink(): MessageParts {
  const id = openedSession();
  const end = endOf(id) ?? "";
  const name = merchant?.name;
  const facts = name === undefined ? [] : ([[texts.reference, referenceOf({ id })]] as const);
  const back = name && backLink({ id }, readReturnUrl(id), end, fillText(texts.back, { merchant: name }));
  const over = name === undefined ? texts.invalidText : fillText(texts.expiredText, { merchant: name });
  const rest = { text: over, facts, actions: end && back ? [back] : [] };
  switch (end) {
    case "succeeded":
      return { ...rest, sign: "done", title: texts.alreadyTitle, text: texts.paidText };
    case "expired":
      return { ...rest, sign: "attention", title: texts.expiredTitle };
    case "canceled":
      return { ...rest, sign: "attention", title: texts.canceledTitle };
    default:
      return { ...rest, sign: "attention", title: invalidTitle(), text: texts.invalidText };
  }
}

/** A processor's mark in the address: whoever comes from there followed no link of the shop. */
function invalidTitle(): string {
  return /[?&](processor|redirect)_status=/.test(location.search) ? texts.elsewhereTitle : texts.invalidTitle;
}

function start(opened: PageLink): void {
  const { sessionId, secret } = opened;
  const mayPay = () => handle.state === "ready" && (!screens.email || screens.email.isFit());
  const wallets = walletButtons(texts.orByCard, mayPay);
  const handle = createHandle(
    {
      sessionSecret: secret,
      locale,
      title: texts.cardDetails,
      wallets: wallets.mount,
      get returnUrl() {
        return handle.session?.returnUrl ?? location.origin + location.pathname;
      },
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
  const payNow = async () => {
    const { pressed } = wallets;
    if (!screens.email || (await screens.email.submit())) complain(await handle.confirm());
    wallets.drop(pressed);
  };
  const more = handOver(opened, texts, code);
  const shared = { handle, sessionId, texts, locale, style, more, showAlone, shopName: merchant?.name };
  const screens = new Screens({ ...shared, payNow: () => void payNow(), giveEmail: giverOf(sessionId, secret) });
  const complain = (result: ConfirmResult) => {
    if (result.type !== "error") return;
    notePaying(sessionId, false);
    const { code, message } = result.error;
    if (code === "connector_error") return; // told by its event, also when nobody pressed Pay
    if (handle.state === "ready") screens.warn(message, code !== "incomplete");
  };
  handle.on("state", (state) => queueMicrotask(() => state === handle.state && screens.render(state)));
  handle.on("ready", () => screens.offer(handle.testCards));
  handle.on("change", ({ complete }) => screens.setComplete(complete));
  handle.on("submit_requested", () => void payNow());
  handle.on("action_required", ({ kind }) => {
    if (kind === "redirect") guardLeaving(false);
    announce(kind === "redirect" ? texts.redirectText : texts.challengeTitle);
  });
  handle.on("declined", (error) => {
    notePaying(sessionId, false);
    queueMicrotask(() => screens.warn(declineText(error, texts), true));
  });
  // Not while a payment is under way, when "nothing was sent" would be untrue.
  handle.on("connection", ({ online }) => {
    if (handle.state === "ready") announce(online ? "" : texts.offline);
  });
  handle.on("error", (error) => {
    screens.lastError = error;
    if (error.code === "connector_error") queueMicrotask(() => screens.warn(error.message, true));
  });
  void handle.load();
  // A reload in the middle of a payment: it may end any moment.
  const again = screens.hasPaidHere
    ? setInterval(() => handle.state === "ready" && void handle.refresh(), againMs)
    : undefined;
  setTimeout(() => clearInterval(again), againForMs);
}
