// Mounts the processor's page in one iframe with the whole form, so autofill works. The first message transfers a
// MessagePort to exactly the processor's origin; afterwards only the port is used.
import type { Appearance, TestCard } from "../contract.ts";
import { type Members, membersOf } from "../members.ts";
import { onRefusal } from "../page-policy.ts";
import type { FrameRender } from "../render.ts";
import type { MountSurface, SurfacePort, SurfaceResult, SurfaceSettings } from "./surface.ts";

const readyMs = 20_000; // a 30 kB form on a very slow network; a blocked frame never answers
const answerMs = 10_000; // for a loaded page, which calls its own server once and may load texts
const heightMax = 4_000; // CSS pixels; bounds a wrong value
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
  // A page that reloads in the frame needs a new port.
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
      // An unknown result without an attempt means that the form could not start.
      if (isResult && !isTried && resultOf(message).status === "unknown") return port.failed("load_failed");
      isTried ||= isResult || (message.type === "ready" && appearance.payButton === true);
      handleMessage(message, port, frame);
    };
    // Sent with the port, so the form starts with the right height and language.
    const { locale } = settings;
    const init = { type: "tollbooth:init", pay_button: appearance.payButton === true, locale };
    frame.contentWindow?.postMessage(init, origin, [port2]);
    post(styleOf(appearance));
  });
  const stopListening = onRefusal(/^frame/, origin, (refusal) => port.failed("csp_blocked", refusal));
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
      stopListening();
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
  // Its own origin isolates it from our page; the sandbox also forbids top-level navigation.
  frame.sandbox.value = "allow-forms allow-popups allow-popups-to-escape-sandbox allow-same-origin allow-scripts";
  frame.style.cssText = "display:block;width:100%;height:0;border:0";
  return frame;
}

/** Handles a message of the form; ignores unknown messages and invalid values. */
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
