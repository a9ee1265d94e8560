// Ranks the sections of /docs for a query in words: a section matches by any of them, the more the better. Pure, so a
// test ranks the generated index as browsers do.
import MiniSearch from "minisearch";

export interface Section {
  /** Address with anchor. */
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

export interface FoundSection extends Section {
  /** Terms of the section that matched. */
  readonly terms: readonly string[];
}

export type SearchIndex = MiniSearch<Section>;

// Words of any question.
const stopWords = new Set(
  (
    "a about am an and any are as at be been but by can could did do does for from get had has have how i if in into is it " +
    "its just like me mean means my need no not of on or our please shall should so some than that the their them then " +
    "there these they this to use using want was we what when where which who why will with work works would you your"
  ).split(" "),
);
/** Readers' words with those of the docs, both by their stems. */
const synonyms: ReadonlyMap<string, readonly string[]> = new Map(
  [
    ["chargeback", "dispute"],
    ["wallet", "apple google"],
    ["csp", "content security policy"],
    ["sca", "3ds"],
    ["duplicate", "twice once"],
    ["twice", "duplicate once"],
    ["vat", "tax"],
    ["recurring", "subscription renewal"],
    ["resend", "retry"],
    ["repeat", "retry"],
    ["checklist", "golive"],
    ["production", "golive live"],
    ["live", "golive"],
    ["money", "refund"],
    ["signature", "verify"],
    ["401", "unauthorized"],
    ["403", "forbidden"],
    ["404", "not_found"],
    ["429", "rate_limited"],
  ].map(([word = "", meant = ""]) => [stemOf(word), meant.split(" ").map(stemOf)] as const),
);
const synonymBoost = 0.5;
// Fuzzy matches of shorter words are too many.
const fuzzyFrom = 5;

// A phrase or a word; `3-D Secure`, `go live` and `not_found` are one term each.
const token = /\b3-?D[\s-]+Secure\b|\bgo(?:ing|es)?[\s-]+live\b|[\p{L}\p{N}_]+(?:['’]s)?/giu;

function termOf(word: string): string | null {
  const plain = word.toLowerCase().replace(/['’]s$/, "");
  if (/^3-?d\W+secure$/.test(plain)) return "3ds";
  if (/^go\w*\W+live$/.test(plain)) return "golive";
  return stopWords.has(plain) ? null : stemOf(plain);
}

/** The word without its ending, so that forms of one word are equal: verify, verifies, verified, verifying. */
export function stemOf(word: string): string {
  if (word.length < 4 || /[\d_]/.test(word)) return word;
  const singular = /(?:ss|us|is)$/.test(word) ? word : word.replace(/ies$/, "y").replace(/(?<=x|sh|ch|ss)es$|s$/, "");
  const base = singular.replace(/(?<=[aeiouy].*[^e])(?:ing|ed)$/, "");
  const undoubled = base === singular ? base : base.replace(/([bdgmnprt])\1$/, "$1");
  return undoubled.length < 4 ? undoubled : undoubled.replace(/e$/, "").replace(/y$/, "i");
}

/** @param answer rows of address, page, heading and text, as generated */
export function createIndex(answer: unknown): SearchIndex {
  const sections = (Array.isArray(answer) ? answer : []).map((each): Section => {
    const [id, page, heading, text] = (Array.isArray(each) ? each : []).map(String);
    return { id: id ?? "", page: page ?? "", heading: heading || page || "", text: text ?? "" };
  });
  const index: SearchIndex = new MiniSearch<Section>({
    fields: ["heading", "page", "text", "anchor"],
    storeFields: ["page", "heading", "text"],
    // An operation's id, for example createRefund, is its anchor only.
    extractField: (section, name) => (name === "anchor" ? section.id.replace(/^[^#]*/, "") : field(section, name)),
    tokenize: (text) => text.match(token) ?? [],
    processTerm: termOf,
    searchOptions: { boost: { heading: 4, page: 2 }, combineWith: "OR" },
  });
  index.addAll(sections);
  return index;
}

function field(section: Section, name: string): string {
  return { id: section.id, heading: section.heading, page: section.page, text: section.text }[name] ?? "";
}

/** Best first; an empty query finds nothing. */
export function findSections(index: SearchIndex, query: string): FoundSection[] {
  const words = query.match(token) ?? [];
  const typed = [...new Set(words.map(termOf).filter((term) => term !== null))];
  const meant = typed.flatMap((term) => synonyms.get(term) ?? []).filter((term) => !typed.includes(term));
  const isQuestion = words.length > typed.length || typed.length > 2;
  const last = typed.at(-1);
  const isKnown = (term: string) => index.search(term, { processTerm: (one) => one }).length > 0;
  const found = index.search([...typed, ...new Set(meant)].join(" "), {
    tokenize: (text) => text.split(" "),
    processTerm: (term) => term,
    // The last word may be unfinished.
    prefix: (term) => term === last,
    fuzzy: (term) => term.length >= fuzzyFrom && !isKnown(term) && 0.2,
    boostTerm: (term) => (typed.includes(term) ? 1 : synonymBoost),
    boostDocument: (id) => weightOf(String(id), isQuestion),
  });
  return found
    .map(({ id, page, heading, text, terms, queryTerms, score }) => {
      const section = { id: String(id), page: String(page), heading: String(heading), text: String(text) };
      const share = shareOf(typed, queryTerms) * (1 + similarity(typed, section.heading));
      return { ...section, terms, score: score * share };
    })
    .sort((one, other) => other.score - one.score);
}

/** Share of the typed terms that matched, by themselves or by a synonym; cubed, so that all of them count most. */
function shareOf(typed: readonly string[], matched: readonly string[]): number {
  const hits = typed.filter((term) => [term, ...(synonyms.get(term) ?? [])].some((one) => matched.includes(one)));
  return (hits.length / typed.length) ** 3;
}

/** Common terms of query and heading, as a share of all their terms. */
function similarity(typed: readonly string[], heading: string): number {
  const own = new Set((heading.match(token) ?? []).map(termOf).filter((term) => term !== null));
  const common = typed.filter((term) => own.has(term)).length;
  return common / (own.size + typed.length - common || 1);
}

/** Ranks pages before their sections, and for a question guides before operations and objects. */
function weightOf(address: string, isQuestion: boolean): number {
  const [path = "", anchor] = address.split("#");
  if (/\/(?:changelog|samples)$/.test(path)) return 0.4;
  const isReference = path.startsWith("/docs/api/") && path !== "/docs/api/errors";
  if (isReference && /^[A-Z]/.test(anchor ?? "")) return isQuestion ? 0.3 : 0.7;
  const ofKind = isQuestion && (isReference || path === "/docs/contract") ? 0.6 : 1;
  return anchor === undefined ? 1.5 * ofKind : ofKind;
}

export interface SnippetPart {
  readonly text: string;
  readonly isHit: boolean;
}

const snippetMax = 140;
// Words before the first hit.
const leadMax = 40;

/** The part of the text that has most of the terms, with its hits marked. */
export function snippetOf({ text, terms }: Pick<FoundSection, "text" | "terms">): SnippetPart[] {
  const hits = [...text.matchAll(token)].flatMap(({ 0: word, index }) => {
    const term = termOf(word);
    return term !== null && terms.includes(term) ? [{ term, from: index, to: index + word.length }] : [];
  });
  const windows = hits.map(({ from }) =>
    hits.filter((hit) => hit.from >= from && hit.to <= from + snippetMax - leadMax),
  );
  const best = windows.sort((a, b) => countTerms(b) - countTerms(a))[0] ?? [];
  const first = best[0]?.from ?? 0;
  const start = first <= leadMax ? 0 : text.indexOf(" ", first - leadMax) + 1;
  const end = text.length <= start + snippetMax ? text.length : text.lastIndexOf(" ", start + snippetMax);
  const parts: SnippetPart[] = [{ text: start > 0 ? "… " : "", isHit: false }];
  let at = start;
  for (const { from, to } of hits.filter((hit) => hit.from >= start && hit.to <= end)) {
    parts.push({ text: text.slice(at, from), isHit: false }, { text: text.slice(from, to), isHit: true });
    at = to;
  }
  parts.push({ text: text.slice(at, end) + (end < text.length ? " …" : ""), isHit: false });
  return parts.filter((part) => part.text !== "");
}

const countTerms = (hits: readonly { readonly term: string }[]) => new Set(hits.map(({ term }) => term)).size;
