// Renders the payment page's screens with a sample order in the console's preview. The branding form sends its values
// as messages from our own origin; nothing is loaded, sent or stored.

import type { PageTexts } from "../languages.ts";
import { guardLeaving } from "../page/around.ts";
import { makeElement } from "../page/element.ts";
import { markPaying } from "../page/link.ts";
import { Screens } from "../page/screens.ts";
import type { CheckoutError, CheckoutHandle, HandleState, LoadResult, SessionView } from "../sdk/contract.ts";
import { membersOf } from "../sdk/members.ts";
import { readSession } from "../sdk/session.ts";

interface PreviewData {
  readonly locale: string;
  readonly texts: PageTexts;
  readonly merchantName: string;
  readonly labels: readonly string[];
  /** In the API's JSON. */
  readonly session: Readonly<Record<string, unknown>>;
}

type PreviewState = HandleState | "declined" | "unavailable";
const states: ReadonlyMap<string, { readonly handle: HandleState; readonly status: string }> = new Map([
  ["ready", { handle: "ready", status: "open" }],
  ["submitting", { handle: "submitting", status: "open" }],
  ["action_required", { handle: "action_required", status: "open" }],
  ["declined", { handle: "ready", status: "open" }],
  ["processing", { handle: "processing", status: "processing" }],
  ["succeeded", { handle: "succeeded", status: "completed" }],
  ["expired", { handle: "expired", status: "expired" }],
  ["canceled", { handle: "canceled", status: "canceled" }],
  ["unavailable", { handle: "failed", status: "open" }],
]);

const block = document.querySelector('script[data-name="preview"]');
const data: PreviewData = JSON.parse(block?.textContent ?? "{}");
const style = document.getElementById("look")?.getAttribute("href") ?? "";
let branding: Readonly<Record<string, unknown>> = membersOf(data.session.branding);
let shown: PreviewState | string = "ready";

addEventListener("message", ({ origin, source, data: received }: MessageEvent<unknown>) => {
  if (origin !== location.origin || source !== parent) return;
  const message = membersOf(received);
  if (message.kind !== "tollbooth-preview") return;
  branding = membersOf(message.branding);
  shown = typeof message.state === "string" ? message.state : shown;
  draw();
});
// The page's focus moves would interrupt typing in the form.
HTMLElement.prototype.focus = () => {};
// Disables the page's links.
addEventListener(
  "click",
  (event) => event.target instanceof Element && event.target.closest("a") && event.preventDefault(),
  true,
);
draw();

function draw(): void {
  const { handle: state, status } = states.get(shown) ?? { handle: "ready", status: "open" };
  const session = sampleOf(status);
  if (!session) return;
  document.documentElement.removeAttribute("style");
  const sessionId = `cs_preview_${shown}`;
  // Shows the screen of a fresh payment, not that of an earlier one.
  markPaying(sessionId, state === "succeeded" || state === "processing");
  const handle = staticHandle(session, state);
  const screens = new Screens({
    handle,
    sessionId,
    texts: data.texts,
    locale: data.locale,
    style,
    more: makeElement("div"),
    showAlone: () => {},
    shopName: undefined,
    payNow: () => {},
    saveEmail: async () => "saved",
  });
  if (shown === "unavailable") screens.lastError = unsupported;
  screens.render(state);
  if (shown === "declined") screens.warn(data.texts.declinedCard);
  guardLeaving(false);
  markPaying(sessionId, false);
  // Stops the countdown of the return to the shop.
  dispatchEvent(new Event("pagehide"));
}

function sampleOf(status: string): SessionView | undefined {
  const name = textOf(branding.display_name) || data.merchantName;
  const json = {
    ...data.session,
    status,
    branding,
    merchant: { display_name: name, support_email: textOf(branding.support_email) },
    ...(status === "open" && branding.email_field !== "hidden" && { email_field: branding.email_field }),
    legal: { ...membersOf(data.session.legal), terms_url: branding.terms_url, privacy_url: branding.privacy_url },
    ...(status === "completed" && { payment_id: "pay_preview", payment_status: "succeeded" }),
  };
  return readSession(json, data.locale)?.view;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const unsupported: CheckoutError = {
  name: "CheckoutError",
  type: "session",
  code: "unsupported_surface",
  message: "",
  retryable: false,
};

/** A handle without network: it neither reads nor pays. */
function staticHandle(session: SessionView, state: HandleState): CheckoutHandle {
  const loaded: LoadResult = { ok: true, session };
  return {
    state,
    session,
    testCards: [],
    load: async () => loaded,
    refresh: async () => loaded,
    mount: async (target) => {
      if (target instanceof Element) target.append(cardFields());
      return loaded;
    },
    confirm: async () => ({ type: "canceled" }),
    on: () => () => {},
    unmount: () => {},
    destroy: () => {},
    setAppearance: () => {},
    focus: () => {},
    fillTestCard: () => {},
  };
}

/** Stand-ins for the processor's fields. */
function cardFields(): HTMLElement {
  const fields = data.labels.map((label) => makeElement("span", { class: "preview-field" }, label));
  return makeElement("div", { class: "preview-fields" }, ...fields);
}
