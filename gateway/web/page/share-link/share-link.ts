// Shares the link with its secret, which the address bar lacks: copied to the clipboard or as a QR code.
import type { PageTexts } from "../../languages.ts";
import { announce } from "../around.ts";
import { makeElement } from "../element.ts";
import type { PageLink } from "../link.ts";

/** @param code module that draws the QR code, loaded on demand */
export function shareLink({ sessionId, secret }: PageLink, texts: PageTexts, code: CodeFile): HTMLElement {
  const address = `${location.origin}/c/${sessionId}#${secret}`;
  const status = makeElement("p", { class: "copied", role: "status" });
  const copy = makeElement("button", { type: "button", class: "link" }, texts.copyLink);
  const other = makeElement("button", { type: "button", class: "link" }, texts.otherDevice);
  const dialog = makeElement("dialog", { class: "device" });
  copy.addEventListener("click", () => {
    const copied = () => {
      status.textContent = texts.copied;
    };
    // Without a clipboard, as over plain http, the buyer copies by hand.
    const byHand = () => showDevice(dialog, address, texts, code);
    if (navigator.clipboard) void navigator.clipboard.writeText(address).then(copied, byHand);
    else void byHand();
  });
  other.addEventListener("click", () => void showDevice(dialog, address, texts, code));
  dialog.addEventListener("close", () => announce(""));
  return makeElement("aside", { class: "more" }, makeElement("p", { class: "links" }, copy, other), status, dialog);
}

export interface CodeFile {
  readonly src: string;
  /** sha384, as for a script. */
  readonly integrity: string;
}

async function showDevice(dialog: HTMLDialogElement, address: string, texts: PageTexts, code: CodeFile): Promise<void> {
  const close = makeElement("button", { type: "button", class: "quiet" }, texts.close);
  close.addEventListener("click", () => dialog.close());
  const codeBox = makeElement("div", { class: "code" });
  dialog.replaceChildren(
    makeElement("h2", { id: "device-title" }, texts.otherDevice),
    makeElement("p", {}, texts.otherDeviceText),
    codeBox,
    makeElement("input", { readonly: true, value: address, dir: "ltr", "aria-label": texts.copyLink }),
    close,
  );
  dialog.setAttribute("aria-labelledby", "device-title");
  dialog.showModal();
  const draw = await loadCode(code).catch(() => undefined);
  if (draw) codeBox.append(draw(address, texts.otherDevice));
  else codeBox.remove(); // the URL is still shown
}

type Draw = (text: string, label: string) => SVGElement;

/** Pinned by its hash: the import uses the preloaded module. */
async function loadCode({ src, integrity }: CodeFile): Promise<Draw> {
  const known = document.head.querySelector(`link[href="${src}"]`);
  if (!known) document.head.append(makeElement("link", { rel: "modulepreload", href: src, integrity }));
  const module: { drawCode: Draw } = await import(src);
  return module.drawCode;
}
