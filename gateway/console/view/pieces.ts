// Small pieces that many screens show: a state as a chip, an id to copy, the links between pages of a list.
import { type Html, html } from "../../html.ts";
import type { Tone } from "../texts/labels.ts";
import { fill, type Language, textsOf } from "../texts/texts.ts";
import { count } from "./values.ts";

export function chip(text: string, tone: Tone): Html {
  return html`<span class="chip chip-${tone}">${text}</span>`;
}

/** A text with a button that copies it; the button appears with the script. */
export function renderCopyable(language: Language, text: string): Html {
  return html`<span class="copyable"><code>${text}</code><button type="button" class="copy" data-copy="${text}" aria-label="${textsOf(language).frame.copy} ${text}" hidden></button></span>`;
}

/** Code to copy. */
export function codeBlock(language: Language, code: string): Html {
  return html`<div class="code"><pre tabindex="0"><code>${code}</code></pre><button type="button" class="copy" data-copy="${code}" aria-label="${textsOf(language).frame.copy}" hidden></button></div>`;
}

export interface Paging {
  /** Address of the page that follows; undefined: there is none. */
  readonly next: string | undefined;
  /** Address of the first page; undefined: it is this one. */
  readonly first: string | undefined;
  /** Beside the links, as `1,204 payments`. */
  readonly total: string;
}

export function paging(language: Language, { next, first, total }: Paging): Html {
  const texts = textsOf(language).frame;
  return html`<nav class="paging" aria-label="${texts.pages}"><span>${total}</span>${first === undefined ? "" : html`<a href="${first}">${texts.firstPage}</a>`}${next === undefined ? "" : html`<a href="${next}" rel="next">${texts.nextPage}</a>`}</nav>`;
}

export interface Pages {
  readonly path: string;
  /** With the list's filters, which its other pages keep. */
  readonly query: URLSearchParams;
  /** Cursor of the next page; empty or undefined: this is the last one. */
  readonly next: string | undefined;
  /** In words, or how many this page shows. */
  readonly total: string | number;
  /** The cursor's name in the query. */
  readonly cursor?: "after" | "page";
}

/** The pages of a list that is read by a cursor. */
export function pages(language: Language, { path, query, next, total, cursor = "after" }: Pages): Html {
  const at = (value: string) => withFilter(path, query, { [cursor]: value });
  return paging(language, {
    total: typeof total === "string" ? total : onThisPage(language, total),
    next: next ? at(next) : undefined,
    first: query.get(cursor) ? at("") : undefined,
  });
}

export function onThisPage(language: Language, shown: number): string {
  return fill(textsOf(language).frame.onPage, { count: count(language, shown) });
}

/** A list's address with a filter taken away or given; an empty value takes it away. Paging begins anew. */
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

/** Filters that are on, each with the way to take it off. */
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

/** A secret that is shown once: no address has it, and no browser stores the page. */
export function secretOnce(language: Language, label: string, secret: string): Html {
  const texts = textsOf(language).frame;
  return html`<section class="panel secret"><h2>${label}</h2>${codeBlock(language, secret)}
<p class="warning">${texts.secretOnce}</p></section>`;
}
