// The processor's page in one iframe of its own origin, which holds the whole form, so that autofill works. The first
// message hands over a MessagePort and is addressed to exactly the processor's origin; nothing else is sent or listened
// to but that port.
import type { Appearance, TestCard } from "../contract.ts";
import { type Members, membersOf } from "../members.ts";
import { onRefusal } from "../page-policy.ts";
import type { FrameRender } from "../render.ts";
import type { MountSurface, SurfacePort, SurfaceResult, SurfaceSettings } from "./surface.ts";

const readyMs = 20_000; // a form of 30 kB on a very slow phone network; a frame that was blocked never answers
const answerMs = 10_000; // of a page that is there: it asks its own server once, and may load words
const heightMax = 4_000; // CSS pixels; a wrong number must not make the page endless
const testCardsMax = 50;

export const mountFrame: MountSurface<FrameRender> = (container, render, port, settings) => {
  const frame = frameElement(render.frameUrl, settings);
  const origin = new URL(render.frameUrl).origin;
  let channel: MessagePort | undefined;
  let { appearance } = settings;
  let isTried = false;
  const post = (message: Record<string, unknown>) => channel?.postMessage(message);
  const waitFor = (ms: number) => setTimeout(() => port.failed("timeout"), ms);
  let timer = waitFor(readyMs);
  // A page that loads anew in the frame knows nothing of an earlier port.
  frame.addEventListener("load", () => {
    channel?.close();
    clearTimeout(timer);
    timer = waitFor(answerMs);
    const { port1, port2 } = new MessageChannel();
    channel = port1;
    channel.onmessage = ({ data }) => {
      clearTimeout(timer);
      const message = membersOf(data);
      const isResult = message.type === "result";
      // Without an attempt there is no outcome to ask for: the form itself could not start.
      if (isResult && !isTried && resultOf(message).status === "unknown") return port.failed("load_failed");
      isTried ||= isResult || (message.type === "ready" && appearance.payButton === true);
      handleMessage(message, port, frame);
    };
    // Said with the port itself, so that the form never tells the height of what it will not show, and never speaks
    // another language first.
    const { locale } = settings;
    const init = { type: "tollbooth:init", pay_button: appearance.payButton === true, locale };
    frame.contentWindow?.postMessage(init, origin, [port2]);
    post(styleOf(appearance));
  });
  const unhear = onRefusal(/^frame/, origin, (refusal) => port.failed("csp_blocked", refusal));
  container.append(frame);
  return {
    submit() {
      isTried = true;
      post({ type: "submit" });
    },
    setAppearance(next) {
      appearance = next;
      post(styleOf(next));
    },
    focus() {
      frame.focus();
      post({ type: "focus" });
    },
    fill: (number) => post({ type: "fill", number }),
    unmount() {
      clearTimeout(timer);
      unhear();
      channel?.close();
    },
  };
};

function frameElement(src: string, { title }: SurfaceSettings): HTMLIFrameElement {
  const frame = document.createElement("iframe");
  frame.src = src;
  frame.title = title;
  frame.referrerPolicy = "no-referrer";
  frame.allow = "payment; publickey-credentials-get";
  // Its own origin keeps it away from our page; it may not send our page elsewhere either.
  frame.sandbox.value = "allow-forms allow-popups allow-popups-to-escape-sandbox allow-same-origin allow-scripts";
  frame.style.cssText = "display:block;width:100%;height:0;border:0";
  return frame;
}

/** What the form says; anything that is not a known message with sound values is passed over. */
function handleMessage(message: Members, port: SurfacePort, frame: HTMLIFrameElement): void {
  const height = Math.ceil(Number(message.height));
  if (height >= 0 && height <= heightMax) {
    frame.style.height = `${height}px`;
    port.resize(height);
  }
  switch (message.type) {
    case "ready":
      port.ready(testCardsOf(message.test_cards));
      break;
    case "change":
      port.change({ complete: message.complete === true });
      break;
    case "submit_requested":
      port.submitRequested();
      break;
    case "invalid":
      port.result({ status: "incomplete" });
      break;
    case "result":
      port.result(resultOf(message));
  }
}

function resultOf(message: Members): SurfaceResult {
  const { status, failure_code: code } = message;
  switch (status) {
    case "succeeded":
    case "processing":
    case "requires_action":
    case "canceled":
      return { status };
    case "failed":
      return { status, code: typeof code === "string" ? code : "declined" };
    default:
      return { status: "unknown", canRetry: message.can_retry === true };
  }
}

function testCardsOf(value: unknown): TestCard[] {
  const cards: unknown[] = Array.isArray(value) ? value.slice(0, testCardsMax) : [];
  return cards.flatMap((card) => {
    const { number, label } = membersOf(card);
    return typeof number === "string" && typeof label === "string" ? [{ number, label }] : [];
  });
}

function styleOf({ theme, accentColor, buttonStyle }: Appearance): Record<string, unknown> {
  return { type: "style", theme, accent: accentColor, button_style: buttonStyle };
}
