// The hosted checkout page: opens its link, creates an SDK handle and shows the screen of each state. Receipts and
// payment links come complete from the server.
import type { PageTexts } from "../languages.ts";
import { takeRedirect } from "../sdk/consume-return.ts";
import type { CheckoutError, ConfirmResult } from "../sdk/contract.ts";
import { createHandle } from "../sdk/handle/handle.ts";
import { referenceOf } from "../session-link.ts";
import { announce, guardLeaving, setServerTime, showMessage } from "./around.ts";
import { fillText } from "./element.ts";
import { emailSaver } from "./email-field.ts";
import { endOf, markPaying, openedSession, openLink, type PageLink, readReturnUrl } from "./link.ts";
import { backLink, type MessageParts } from "./messages/message.ts";
import { completeReceipt, followReturn } from "./messages/paid.ts";
import { foot } from "./pay-view.ts";
import { Screens } from "./screens.ts";
import { type CodeFile, shareLink } from "./share-link/share-link.ts";
import { replaceBrokenLogo } from "./summary.ts";
import { walletButtons } from "./wallets.ts";

interface PageData {
  readonly locale: string;
  readonly texts: PageTexts;
  /** URL of the style sheet without branding. */
  readonly style: string;
  readonly code: CodeFile;
  /** Undefined if the server did not know the merchant. */
  readonly merchant?: { readonly name: string; readonly email?: string };
  /** The server's clock, milliseconds. */
  readonly now?: number;
}

// Interval and duration of reads after a reload during a payment.
const againMs = 3_000;
const againForMs = 30_000;

const { locale, texts, style, code, merchant, now }: PageData = JSON.parse(
  document.getElementById("data")?.textContent ?? "{}",
);
setServerTime(now);
const complete = document.querySelector<HTMLElement>("#receipt, #link");
const link = !complete && isSupported() ? openLink() : undefined;
const returnToken = new URLSearchParams(location.search).get("return");
// Pasting a new link into this tab changes only the fragment.
addEventListener("hashchange", () => location.reload());

const header = document.querySelector<HTMLElement>(".merchant[data-known]");
if (header && merchant) replaceBrokenLogo(header, merchant.name);

if (complete) completeReceipt(complete);
else if (!isSupported()) {
  showAlone({ title: texts.unsupportedTitle, text: texts.unsupportedText, sign: "attention" });
} else if (link) start(link);
else if (returnToken && !endOf(openedSession())) {
  const shop = { sessionId: openedSession(), name: merchant?.name };
  followReturn(shop, returnToken, takeRedirect(), texts, (parts) => showAlone(parts ?? withoutLink()));
} else showAlone(withoutLink());

function showAlone(parts: MessageParts): void {
  showMessage(parts, foot(undefined, merchant?.email, texts));
}

/** Checks features that a browser may lack although it can parse this script. */
function isSupported(): boolean {
  return "hasOwn" in Object && typeof HTMLDialogElement === "function";
}

/** Message after a reload of an ended session, or for an incomplete link. */
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

/** A processor's parameter in the URL means that the buyer returned from there, not from a link of the shop. */
function invalidTitle(): string {
  return /[?&](processor|redirect)_status=/.test(location.search) ? texts.elsewhereTitle : texts.invalidTitle;
}

function start(opened: PageLink): void {
  const { sessionId, secret } = opened;
  const mayPay = () => handle.state === "ready" && (!screens.email || screens.email.isValid());
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
    if (!screens.email || (await screens.email.submit())) showProblem(await handle.confirm());
    wallets.drop(pressed);
  };
  const more = shareLink(opened, texts, code);
  const shared = { handle, sessionId, texts, locale, style, more, showAlone, shopName: merchant?.name };
  const screens = new Screens({ ...shared, payNow: () => void payNow(), saveEmail: emailSaver(sessionId, secret) });
  const showProblem = (result: ConfirmResult) => {
    if (result.type !== "error") return;
    markPaying(sessionId, false);
    const { code, message } = result.error;
    if (code === "connector_error") return; // its event shows it, also without a press of Pay
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
    markPaying(sessionId, false);
    queueMicrotask(() => screens.warn(declineText(error, texts), true));
  });
  // Not during a payment, when "nothing was sent" would be wrong.
  handle.on("connection", ({ online }) => {
    if (handle.state === "ready") announce(online ? "" : texts.offline);
  });
  handle.on("error", (error) => {
    screens.lastError = error;
    if (error.code === "connector_error") queueMicrotask(() => screens.warn(error.message, true));
  });
  void handle.load();
  // After a reload during a payment, which may end at any moment.
  const again = screens.hasPaidHere
    ? setInterval(() => handle.state === "ready" && void handle.refresh(), againMs)
    : undefined;
  setTimeout(() => clearInterval(again), againForMs);
}

const declineTexts: Readonly<Record<string, keyof PageTexts>> = {
  expired_card: "declinedDetails",
  incorrect_cvc: "declinedDetails",
  incorrect_number: "declinedDetails",
  incorrect_zip: "declinedDetails",
  invalid_cvc: "declinedDetails",
  invalid_number: "declinedDetails",
  invalid_expiry_month: "declinedDetails",
  invalid_expiry_year: "declinedDetails",
  insufficient_funds: "declinedFunds",
  limit_exceeded: "declinedLimit",
  card_not_supported: "declinedUnsupported",
  currency_not_supported: "declinedUnsupported",
  processing_error: "declinedLater",
  authentication_failed: "declinedBank",
  authentication_required: "declinedBank",
  payment_intent_authentication_failure: "declinedBank",
  canceled_by_buyer: "givenUp",
};
const advices: Readonly<Record<string, keyof PageTexts>> = {
  retry_later: "declinedLater",
  contact_issuer: "declinedBank",
};

/** An unknown code uses the advice, or else the general text. */
function declineText({ declineCode = "", advice = "", fieldsReplaced }: CheckoutError, own: PageTexts): string {
  if (fieldsReplaced) return own.declinedAgain;
  const name = Object.hasOwn(declineTexts, declineCode) ? declineTexts[declineCode] : advices[advice];
  return own[name ?? "declinedCard"];
}
