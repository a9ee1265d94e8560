// Highlights code at build time. Token kinds become one-letter classes, no inline styles, so the pages keep a strict
// content security policy and the style sheet supports light and dark.
import { createHighlighterCore, type HighlighterCore, type ThemeRegistration } from "shiki/core";
import { createOnigurumaEngine } from "shiki/engine/oniguruma";
import { Html, html } from "../../../gateway/html.ts";

/** Token scopes by class: comment, string, keyword, number or constant, function, property. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  c: ["comment", "punctuation.definition.comment"],
  s: ["string", "punctuation.definition.string"],
  k: ["keyword", "storage", "keyword.operator.new", "keyword.operator.expression"],
  n: ["constant.numeric", "constant.language"],
  f: ["entity.name.function", "support.function", "meta.function-call.generic"],
  p: ["support.type.property-name", "entity.name.tag", "variable.parameter.function-call"],
};
const plain = "#000000";
const colourOf = (kind: string) => `#0000${kind.charCodeAt(0).toString(16)}`;
const kindOf = new Map(Object.keys(kinds).map((kind) => [colourOf(kind), kind]));

// The highlighter only knows colours, so each one represents a kind.
const theme: ThemeRegistration = {
  name: "kinds",
  type: "light",
  fg: plain,
  bg: "#ffffff",
  settings: [
    { settings: { foreground: plain } },
    { scope: ["keyword.operator"], settings: { foreground: plain } },
    ...Object.entries(kinds).map(([kind, scope]) => ({
      scope: [...scope],
      settings: { foreground: colourOf(kind) },
    })),
  ],
};

/** Grammar of each fence language; `text` has none. */
const grammars: Readonly<Record<string, string>> = {
  ...{ bash: "shellscript", sh: "shellscript", js: "javascript", ts: "typescript", python: "python", json: "json" },
  ...{ jsx: "jsx", vue: "vue", svelte: "svelte", html: "html", sql: "sql", go: "go", php: "php", ruby: "ruby" },
};

/** @throws for an unlisted language: a misspelt fence would silently lose its colours */
export type Highlight = (code: string, language: string) => Html;

export async function createHighlight(): Promise<Highlight> {
  const core = await createHighlighterCore({
    themes: [theme],
    langs: [
      import("shiki/langs/shellscript.mjs"),
      import("shiki/langs/javascript.mjs"),
      import("shiki/langs/typescript.mjs"),
      import("shiki/langs/python.mjs"),
      import("shiki/langs/json.mjs"),
      import("shiki/langs/html.mjs"),
      import("shiki/langs/jsx.mjs"),
      import("shiki/langs/vue.mjs"),
      import("shiki/langs/svelte.mjs"),
      import("shiki/langs/sql.mjs"),
      import("shiki/langs/go.mjs"),
      import("shiki/langs/php.mjs"),
      import("shiki/langs/ruby.mjs"),
    ],
    engine: createOnigurumaEngine(import("shiki/wasm")),
  });
  return (code, language) => coloured(core, code, language);
}

function coloured(core: HighlighterCore, code: string, language: string): Html {
  if (language === "") return html`${code}`;
  const lang = grammars[language];
  if (lang === undefined) throw new Error(`no grammar for "${language}"`);
  // No time limit: on a busy machine a line would lose its colours, and the output would differ.
  const lines = core.codeToTokensBase(code, { lang, theme: "kinds", tokenizeTimeLimit: 0 });
  return new Html(lines.map((line) => lineOf(line)).join("\n"));
}

/** Neighbours of one kind share an element, which saves a third of the bytes. */
function lineOf(tokens: readonly { readonly content: string; readonly color?: string }[]): string {
  const parts: { kind: string; text: string }[] = [];
  for (const { content, color } of tokens) {
    const kind = kindOf.get(color?.toLowerCase() ?? plain) ?? "";
    const last = parts.at(-1);
    if (last && (last.kind === kind || content.trim() === "")) last.text += content;
    else parts.push({ kind, text: content });
  }
  return parts
    .map(({ kind, text }) => (kind === "" ? html`${text}` : html`<i class="${kind}">${text}</i>`).text)
    .join("");
}
