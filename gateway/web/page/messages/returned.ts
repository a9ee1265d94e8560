// Serves a buyer who returns from the processor in a browser without the link's secret. The URL's return token reads
// the session's status and the shop's URL, but cannot pay. An open status is polled with growing pauses.

import type { PageTexts } from "../../languages.ts";
import { membersOf } from "../../sdk/members.ts";
import { referenceOf } from "../../session-link.ts";
import { fillText } from "../element.ts";
import { returnAddress } from "../link.ts";
import { backLink, type MessageParts } from "./message.ts";
import { countdown } from "./paid.ts";

const pauseMaxMs = 30_000;
const checkingMs = 30_000; // usually enough for the processor's webhook
const requestsMax = 60; // half an hour
const askMs = 12_000;

interface Shop {
  readonly sessionId: string;
  readonly name: string | undefined;
}

/** @param show called with undefined if the token is invalid */
export function followReturn(
  shop: Shop,
  token: string,
  texts: PageTexts,
  show: (parts: MessageParts | undefined) => void,
): void {
  const since = Date.now();
  let latest: ReturnState = { status: "checking", successUrl: "", cancelUrl: "" };
  let shown = "";
  let requestCount = 0;
  const ask = async () => {
    const answer = await readState(shop.sessionId, token);
    if (answer === "refused") return show(undefined);
    latest = answer ?? latest;
    const isChecking = latest.status === "open" && Date.now() - since < checkingMs;
    const status = isChecking ? "checking" : latest.status;
    const view = `${status} ${latest.cancelUrl}`;
    if (view !== shown) show(messageOf(shop, status, latest, texts));
    shown = view;
    const isOver = !["open", "checking", "processing"].includes(status);
    if (!isOver && ++requestCount < requestsMax)
      setTimeout(() => void ask(), Math.min(500 * 2 ** requestCount, pauseMaxMs));
  };
  void ask();
}

interface ReturnState {
  readonly status: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/** `refused`: unknown session or wrong token; undefined: no usable response. */
async function readState(sessionId: string, token: string): Promise<ReturnState | "refused" | undefined> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), askMs);
  try {
    const address = `/c/${sessionId}/state?return=${encodeURIComponent(token)}`;
    const response = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer", signal: limit.signal });
    if (response.status === 404) return "refused";
    if (!response.ok) return undefined;
    const { status, success_url: success = "", cancel_url: cancel = "" } = membersOf(await response.json());
    return { status: String(status), successUrl: String(success), cancelUrl: String(cancel) };
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function messageOf(
  { sessionId, name }: Shop,
  status: string,
  { successUrl, cancelUrl }: ReturnState,
  texts: PageTexts,
): MessageParts {
  const isPaid = status === "completed";
  const isKnown = isPaid || status === "expired" || status === "canceled" || status === "open";
  const address = status === "open" || (isKnown && !isPaid) ? cancelUrl : successUrl || cancelUrl;
  const merchant = name ?? (address && new URL(address).host);
  const shownStatus = isKnown ? status : "processing";
  const label = fillText(texts.back, { merchant });
  // Only on arrival: a buyer who reloads the page or returns to it later stays.
  const [arrival] = performance.getEntriesByType("navigation");
  const isArrival = membersOf(arrival).type === "navigate";
  const [title, template] = textsFor(status, texts);
  const text = merchant === "" && template.includes("{") ? texts.invalidText : template;
  return {
    sign: isPaid ? "done" : status === "expired" || status === "canceled" ? "attention" : "wait",
    title,
    text: fillText(text, { merchant }),
    facts: [[texts.reference, referenceOf({ id: sessionId })]],
    actions: [backLink({ id: sessionId }, address, shownStatus, label, isPaid)],
    note:
      isPaid && isArrival && successUrl
        ? countdown(returnAddress(successUrl, sessionId, shownStatus), texts)
        : undefined,
  };
}

function textsFor(status: string, texts: PageTexts): readonly [title: string, text: string] {
  switch (status) {
    case "completed":
      return [texts.paidTitle, texts.paidText];
    case "expired":
      return [texts.expiredTitle, texts.expiredText];
    case "canceled":
      return [texts.canceledTitle, texts.canceledText];
    case "checking":
      return [texts.checkTitle, texts.checkText];
    case "open":
      return [texts.openTitle, texts.openText];
    default:
      return [texts.processingTitle, texts.processingText];
  }
}
