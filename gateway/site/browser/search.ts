// Searches the sections of all pages in an index that is built in the browser. No query is sent to a server.
import MiniSearch from "minisearch";

interface Section {
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

const shownMax = 20;
const snippetMax = 140;
// Fuzzy matches of shorter words are too many.
const fuzzyFrom = 5;

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

async function loadIndex(): Promise<MiniSearch<Section>> {
  const answer: unknown = await (await fetch("/docs/search.json")).json();
  const sections = (Array.isArray(answer) ? answer : []).map((each): Section => {
    const [id, page, heading, text] = (Array.isArray(each) ? each : []).map(String);
    return { id: id ?? "", page: page ?? "", heading: heading || page || "", text: text ?? "" };
  });
  const index = new MiniSearch<Section>({
    fields: ["heading", "page", "text"],
    storeFields: ["page", "heading", "text"],
    searchOptions: {
      boost: { heading: 4, page: 2 },
      combineWith: "AND",
      prefix: true,
      fuzzy: (term) => (term.length >= fuzzyFrom ? 0.2 : false),
      boostDocument: (id) => weightOf(String(id)),
    },
  });
  index.addAll(sections);
  return index;
}

/** Ranks pages before their sections, operations before objects, and instructions before the changelog. */
function weightOf(address: string): number {
  if (/^\/docs\/(changelog|states)\b/.test(address)) return 0.4;
  if (!address.includes("#")) return 1.5;
  return /#[A-Z]/.test(address) ? 0.7 : 1;
}

async function show(): Promise<void> {
  const query = input.value.trim();
  const found = await index.then(
    (ready) => ready.search(query),
    () => undefined,
  );
  if (input.value.trim() !== query) return; // the query has changed
  list.replaceChildren(...(found ?? []).slice(0, shownMax).map(lineOf));
  if (found === undefined) count.textContent = "The search index could not be loaded. Please try again.";
  else if (query === "") count.textContent = "";
  else count.textContent = found.length === 0 ? "No results." : `${found.length} results.`;
}

function lineOf({
  id,
  page,
  heading,
  text,
}: {
  id: unknown;
  page?: string;
  heading?: string;
  text?: string;
}): HTMLElement {
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = String(id);
  const title = document.createElement("b");
  title.textContent = heading ?? "";
  const pageLabel = document.createElement("span");
  pageLabel.textContent = heading === page ? "" : (page ?? "");
  const snippet = document.createElement("small");
  snippet.textContent = (text ?? "").slice(0, snippetMax);
  link.append(title, pageLabel, snippet);
  line.append(link);
  return line;
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
