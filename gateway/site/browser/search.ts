// Searches the sections of all pages in an index that is built in the browser. No query is sent to a server.
import { createIndex, type FoundSection, findSections, type SearchIndex, snippetOf } from "./search-index.ts";

const shownMax = 20;

const { dialog, input, count, list } = createDialog();
const index = loadIndex();
open();
document.addEventListener("docs-search", open);
input.addEventListener("input", () => void show());
dialog.addEventListener("keydown", followKeys);
// A click outside closes the dialog.
dialog.addEventListener("click", (event) => {
  if (event.target === dialog || (event.target instanceof Element && event.target.closest("a"))) dialog.close();
});

function open(): void {
  if (!dialog.open) dialog.showModal();
  input.select();
}

function createDialog() {
  const dialog = document.createElement("dialog");
  dialog.id = "search";
  dialog.setAttribute("aria-label", "Search the docs");
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Search the docs";
  input.setAttribute("aria-label", "Search the docs");
  input.autocomplete = "off";
  const count = document.createElement("p");
  count.setAttribute("role", "status");
  const list = document.createElement("ol");
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  dialog.append(input, close, count, list);
  document.body.append(dialog);
  return { dialog, input, count, list };
}

async function loadIndex(): Promise<SearchIndex> {
  return createIndex(await (await fetch("/docs/search.json")).json());
}

async function show(): Promise<void> {
  const query = input.value.trim();
  const found = await index.then(
    (ready) => findSections(ready, query),
    () => undefined,
  );
  if (input.value.trim() !== query) return; // the query has changed
  list.replaceChildren(...(found ?? []).slice(0, shownMax).map(lineOf));
  if (found === undefined) count.textContent = "The search index could not be loaded. Please try again.";
  else if (query === "") count.textContent = "";
  else count.textContent = found.length === 0 ? "No results." : `${found.length} results.`;
}

function lineOf(found: FoundSection): HTMLElement {
  const { id, page, heading } = found;
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = id;
  const title = document.createElement("b");
  title.append(...markedText({ ...found, text: heading }));
  const pageLabel = document.createElement("span");
  pageLabel.textContent = heading === page ? "" : page;
  const snippet = document.createElement("small");
  snippet.append(...markedText(found));
  link.append(title, pageLabel, snippet);
  line.append(link);
  return line;
}

function markedText(found: FoundSection): Node[] {
  return snippetOf(found).map(({ text, isHit }) => {
    const part = isHit ? document.createElement("mark") : document.createTextNode("");
    part.textContent = text;
    return part;
  });
}

/** Arrow keys select a result, Enter in the field opens the first, Escape closes. */
function followKeys(event: KeyboardEvent): void {
  if (event.key === "Escape") dialog.close();
  const links = [...list.querySelectorAll("a")];
  const at = links.findIndex((link) => link.matches(":focus"));
  if (event.key === "Enter" && document.activeElement === input) links[0]?.click();
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  const next = at + (event.key === "ArrowDown" ? 1 : -1);
  (links[next] ?? (next < 0 ? input : links.at(-1)))?.focus();
}
