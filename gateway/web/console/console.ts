// Enhances the console's pages: passkeys, copy buttons, time zone, single submission and shortcuts. Only passkeys
// require it.
import { brandingPreview } from "./branding.ts";
import { passkeyForms } from "./passkeys.ts";

function searchKey(): void {
  const field = document.querySelector<HTMLInputElement>("[data-search]");
  if (!field) return;
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select") !== null;
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}

function copyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      void navigator.clipboard.writeText(button.dataset.copy ?? "").then(() => {
        button.classList.add("is-copied");
        setTimeout(() => button.classList.remove("is-copied"), 2_000);
      });
    });
  }
}

/** Reports the browser's time zone, in which the server shows times if the merchant has set none. */
function reportZone(): void {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in all supported browsers.
  document.cookie = `tollbooth-zone=${encodeURIComponent(timeZone)}; path=/; max-age=31536000; samesite=lax`;
}

/** Submits a form once, except for downloads, which leave the page. A restored page can submit again. */
function singleSends(): void {
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented || !(event.target instanceof HTMLFormElement)) return;
    const form = event.target;
    if (form.method !== "post" || event.submitter?.hasAttribute("data-download")) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
    form.setAttribute("aria-busy", "true");
  });
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll<HTMLFormElement>("form[data-sent]")) {
      delete form.dataset.sent;
      form.removeAttribute("aria-busy");
    }
  });
}

function menus(): void {
  const open = () => document.querySelectorAll<HTMLDetailsElement>("details.menu[open]");
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of open()) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  });
  document.addEventListener("click", ({ target }) => {
    for (const menu of open()) if (target instanceof Node && !menu.contains(target)) menu.open = false;
  });
}

function focusProblems(): void {
  document.querySelector<HTMLElement>("[data-focus]")?.focus();
}

passkeyForms();
brandingPreview();
searchKey();
copyButtons();
reportZone();
singleSends();
menus();
focusProblems();
