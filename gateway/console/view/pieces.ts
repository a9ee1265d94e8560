// Small pieces of many screens: state chips, texts to copy, the links between pages of a list.
import { renderSVG } from "uqr";
import { Html, html } from "../../html.ts";
import type { Tone } from "../texts/labels.ts";
import { fillText, type Language, textsOf } from "../texts/texts.ts";
import { countText } from "./values.ts";

export function toneChip(text: string, tone: Tone): Html {
  return html`<span class="chip chip-${tone}">${text}</span>`;
}

/** Empty for an empty text. The script shows the button. */
export function renderCopyable(language: Language, text: string): Html | string {
  if (text === "") return "";
  return html`<span class="copyable"><code>${text}</code><button type="button" class="copy" data-copy="${text}" aria-label="${textsOf(language).frame.copy} ${text}" hidden></button></span>`;
}

export function codeBlock(language: Language, code: string): Html {
  return html`<div class="code"><pre tabindex="0"><code>${code}</code></pre><button type="button" class="copy" data-copy="${code}" aria-label="${textsOf(language).frame.copy}" hidden></button></div>`;
}

/** The SVG holds nothing but squares, so it needs no escaping. */
export function qrCode(label: string, text: string): Html {
  return html`<div class="qr" role="img" aria-label="${label}">${new Html(renderSVG(text, { border: 2 }))}</div>`;
}

interface Paging {
  /** Address of the next page, if there is one. */
  readonly next: string | undefined;
  /** Address of the first page, unless it is this one. */
  readonly first: string | undefined;
  /** For example `1,204 payments`. */
  readonly total: string;
}

export function pageNavigation(language: Language, { next, first, total }: Paging): Html {
  const texts = textsOf(language).frame;
  return html`<nav class="paging" aria-label="${texts.pages}"><span>${total}</span>${first === undefined ? "" : html`<a href="${first}">${texts.firstPage}</a>`}${next === undefined ? "" : html`<a href="${next}" rel="next">${texts.nextPage}</a>`}</nav>`;
}

interface Pages {
  readonly path: string;
  /** Holds the list's filters, which its other pages keep. */
  readonly query: URLSearchParams;
  /** Cursor of the next page; empty on the last one. */
  readonly next: string | undefined;
  /** A text, or the number of rows on this page. */
  readonly total: string | number;
  readonly cursor?: "after" | "page";
}

export function cursorLinks(language: Language, { path, query, next, total, cursor = "after" }: Pages): Html {
  const at = (value: string) => withFilter(path, query, { [cursor]: value });
  return pageNavigation(language, {
    total: typeof total === "string" ? total : onThisPage(language, total),
    next: next ? at(next) : undefined,
    first: query.get(cursor) ? at("") : undefined,
  });
}

export function onThisPage(language: Language, shown: number): string {
  return fillText(textsOf(language).frame.onPage, { count: countText(language, shown) });
}

/** A list's first page with changed filters; an empty value removes a filter. */
export function withFilter(path: string, query: URLSearchParams, changes: Readonly<Record<string, string>>): string {
  const changed = new URLSearchParams(query);
  for (const name of ["after", "page", "done"]) changed.delete(name);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") changed.delete(name);
    else changed.set(name, value);
  }
  const text = changed.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** An address with a query, without empty values. */
export function addressWith(path: string, query: Readonly<Record<string, string>>): string {
  return withFilter(path, new URLSearchParams(), query);
}

export function filterChips(
  language: Language,
  path: string,
  query: URLSearchParams,
  shown: readonly { readonly name: string; readonly label: string; readonly value: string }[],
): Html | string {
  const texts = textsOf(language).frame;
  const on = shown.filter(({ name }) => (query.get(name) ?? "") !== "");
  if (on.length === 0) return "";
  const chips = on.map(
    ({ name, label, value }) =>
      html`<li><span>${label}: ${value}</span> <a href="${withFilter(path, query, { [name]: "" })}" aria-label="${texts.removeFilter} ${label}">×</a></li>`,
  );
  return html`<ul class="filter-chips">${chips}<li><a href="${path}">${texts.removeFilters}</a></li></ul>`;
}

/** A secret that this page alone shows: no address holds it and no browser stores the page. */
export function secretOnce(language: Language, label: string, secret: string): Html {
  const texts = textsOf(language).frame;
  return html`<section class="panel secret"><h2>${label}</h2>${codeBlock(language, secret)}
<p class="warning">${texts.secretOnce}</p></section>`;
}
