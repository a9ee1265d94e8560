// Enhances the pages of /docs: copy buttons, the language of code samples, and search and "Try it" on demand.
import { rememberedLanguage, rememberLanguage, showLanguage } from "./language.ts";

const copiedMs = 1_500;

showLanguage(rememberedLanguage());
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-choose]") : null;
  if (!button) return;
  // Keeps the scroll position, although groups above change their height.
  const before = button.getBoundingClientRect().top;
  rememberLanguage(button.dataset.choose ?? "");
  scrollBy({ top: button.getBoundingClientRect().top - before, behavior: "instant" });
});

for (const figure of document.querySelectorAll("figure.code")) addCopyButton(figure);
leaveOutOfTabOrder(document.querySelectorAll("pre[tabindex], .wide[tabindex]"));
scrollToCurrentPage();
followOldAddress();

document.getElementById("find")?.addEventListener("click", openSearch);
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select") !== null;
  const isWanted = (event.key === "/" && !isTyping) || (event.key === "k" && (event.ctrlKey || event.metaKey));
  if (!isWanted || event.defaultPrevented) return;
  event.preventDefault();
  openSearch();
});
if (isThisMachine() && document.querySelector("[data-method]")) void offerToTry();

function addCopyButton(figure: Element): void {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = figure.querySelector("pre")?.textContent ?? "";
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false, // not allowed by the browser
    );
    button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
    setTimeout(() => {
      button.textContent = "Copy";
    }, copiedMs);
  });
  figure.append(button);
}

/** Scrolls only the navigation to the current page. */
function scrollToCurrentPage(): void {
  const menu = document.getElementById("menu");
  const link = menu?.querySelector<HTMLElement>("[aria-current]");
  if (menu && link) menu.scrollTop = link.offsetTop - menu.clientHeight / 2;
}

/** Boxes that do not scroll are removed from the Tab order. */
function leaveOutOfTabOrder(boxes: Iterable<Element>): void {
  const observer = new ResizeObserver((changes) => {
    // Measures all before changing any, to avoid repeated layout.
    const measured = changes.map(({ target }) => ({ target, scrolls: target.scrollWidth > target.clientWidth }));
    for (const { target, scrolls } of measured) {
      if (scrolls) target.setAttribute("tabindex", "0");
      else target.removeAttribute("tabindex");
    }
  });
  for (const box of boxes) observer.observe(box);
}

/** The search script opens the dialog when it loads, and later on this event. */
function openSearch(): void {
  if (document.getElementById("search")) document.dispatchEvent(new Event("docs-search"));
  else load("/docs/search.js");
}

function load(address: string): void {
  if (document.querySelector(`script[src="${address}"]`)) return;
  const script = document.createElement("script");
  script.type = "module";
  script.src = address;
  document.head.append(script);
}

function isThisMachine(): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname);
}

/** Loads "Try it" if the gateway belongs to a local stack. */
async function offerToTry(): Promise<void> {
  const answer: unknown = await fetch("/docs/stack.json").then(
    (response) => (response.ok ? response.json() : undefined),
    () => undefined,
  );
  if (typeof answer === "object" && answer !== null && "is_local" in answer && answer.is_local === true) {
    load("/docs/try.js");
  }
}

/** Redirects URLs such as `/docs#getPayment`, from when the reference was one page. */
function followOldAddress(): void {
  const id = decodeURIComponent(location.hash.slice(1));
  if (location.pathname !== "/docs" || id === "" || document.getElementById(id)) return;
  void fetch("/docs/search.json")
    .then((response) => response.json())
    .then((sections: unknown) => {
      const addresses = Array.isArray(sections) ? sections.map((section) => String(section[0])) : [];
      const found = addresses.find((address) => address.endsWith(`#${id}`));
      if (found !== undefined) location.replace(found);
    });
}
