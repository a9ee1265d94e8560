// What a page of /docs does besides being read: copy buttons, the language of code, and the search and "Try it", which
// are loaded when they are asked for. Without it everything can be read.
import { rememberedLanguage, rememberLanguage, showLanguage } from "./language.ts";

const copiedMs = 1_500;

showLanguage(rememberedLanguage());
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-choose]") : null;
  if (!button) return;
  // The code under the reader's eyes stays where it is, though groups above change their heights.
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
      () => false, // where the browser does not allow it: the text can still be selected
    );
    button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
    setTimeout(() => {
      button.textContent = "Copy";
    }, copiedMs);
  });
  figure.append(button);
}

/** Scrolls the navigation to this page, and nothing else with it. */
function scrollToCurrentPage(): void {
  const menu = document.getElementById("menu");
  const link = menu?.querySelector<HTMLElement>("[aria-current]");
  if (menu && link) menu.scrollTop = link.offsetTop - menu.clientHeight / 2;
}

/** What does not scroll needs no stop of the Tab key. */
function leaveOutOfTabOrder(boxes: Iterable<Element>): void {
  const observer = new ResizeObserver((changes) => {
    // All are measured before one is changed.
    const measured = changes.map(({ target }) => ({ target, scrolls: target.scrollWidth > target.clientWidth }));
    for (const { target, scrolls } of measured) {
      if (scrolls) target.setAttribute("tabindex", "0");
      else target.removeAttribute("tabindex");
    }
  });
  for (const box of boxes) observer.observe(box);
}

/** The search's script opens it when it has come, and afterwards on this event. */
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

/** The gateway of a local stack says that it is one; no other is asked twice or offers anything. */
async function offerToTry(): Promise<void> {
  const answer: unknown = await fetch("/docs/stack.json").then(
    (response) => (response.ok ? response.json() : undefined),
    () => undefined,
  );
  if (typeof answer === "object" && answer !== null && "is_local" in answer && answer.is_local === true) {
    load("/docs/try.js");
  }
}

/** `/docs#getPayment` was an address when the reference was one page. */
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
