// The hosted checkout page: opens its link, lets the SDK follow the session, and shows the screen of each state. The
// SDK decides what is true; this file only shows it.
import type { ConfirmResult } from "../sdk/contract.ts";
import { createHandle } from "../sdk/handle/handle.ts";
import type { PageTexts } from "../texts/page-texts.ts";
import { announce, guardLeaving, showMessage } from "./around.ts";
import { declineText } from "./decline-text.ts";
import { makeElement } from "./element.ts";
import { endOf, notePaying, openedSession, openLink, type PageLink } from "./link.ts";
import type { MessageParts } from "./message.ts";
import { Screens } from "./screens.ts";

interface PageData {
  readonly locale: string;
  readonly texts: PageTexts;
}

const slowMs = 4_000;
// After a reload in the middle of a payment: how often the session is read, and how long.
const againMs = 3_000;
const againForMs = 30_000;

const { locale, texts }: PageData = JSON.parse(document.getElementById("data")?.textContent ?? "{}");
const link = openLink();
// A new link pasted into this tab changes the fragment only.
addEventListener("hashchange", () => location.reload());

if (link) start(link);
else showMessage(withoutLink());

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
    document.getElementById("skeleton")?.append(makeElement("p", {}, texts.slow));
  }, slowMs);
  const payNow = () => void handle.confirm().then(complain);
  const screens = new Screens({ handle, sessionId, texts, locale, payNow, onOpen: () => clearTimeout(slow) });
  const complain = (result: ConfirmResult) => {
    if (result.type !== "error") return;
    notePaying(sessionId, false);
    const { code, message } = result.error;
    if (code === "connector_error") return; // told by its event, also when nobody pressed Pay
    if (handle.state === "ready") screens.warn(message, code !== "incomplete");
  };
  handle.on("state", (state) => queueMicrotask(() => state === handle.state && screens.render(state)));
  handle.on("ready", () => screens.offer(handle.testCards));
  handle.on("submit_requested", payNow);
  handle.on("action_required", ({ kind }) => {
    if (kind === "redirect") guardLeaving(false);
    announce(kind === "redirect" ? texts.redirectText : texts.challengeTitle);
  });
  handle.on("declined", ({ declineCode }) => {
    notePaying(sessionId, false);
    queueMicrotask(() => screens.warn(declineText(declineCode, texts), true));
  });
  handle.on("connection", ({ online }) => {
    if (handle.state === "ready" || handle.state === "processing") announce(online ? "" : texts.offline);
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
