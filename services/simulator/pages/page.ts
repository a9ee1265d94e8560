// Head, headers and escaping of every page. Pages have no inline or third-party content, so that the policy forbids
// both.
import type { FormTexts, Language } from "../texts/languages.ts";

export interface Page {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface PageParts {
  readonly language: Language;
  readonly title: string;
  /** Files of assets/. */
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  /** HTML; foreign text must be escaped with escapeHtml. */
  readonly body: string;
  /** For the card form: any page may frame it, since only the holder of the client secret can use it. */
  readonly framing: "any" | "none";
}

export function renderPage(parts: PageParts): Page {
  const styles = parts.styles.map((name) => `<link rel="stylesheet" href="/assets/${name}">`);
  const scripts = parts.scripts.map((name) => `<script type="module" src="/assets/${name}"></script>`);
  const html = `<!doctype html>
<html lang="${parts.language.tag}" dir="${parts.language.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(parts.title)}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
${[...styles, ...scripts].join("\n")}
</head>
${parts.body}
</html>
`;
  return { html, headers: headersFor(parts.framing) };
}

export function textIn({ texts }: Language): (name: keyof FormTexts) => string {
  return (name) => `<span data-text="${name}">${escapeHtml(texts[name])}</span>`;
}

/** @param mode,note HTML */
export function testBar(mode: string, note: string): string {
  return `<p class="test-bar">${mode}<span> – ${note}</span></p>`;
}

/** Data block for the page's script, which no policy executes. `<` is escaped so that no text can end it. */
export function textsBlock({ tag, texts }: Language): string {
  const data = JSON.stringify({ locale: tag, texts }).replaceAll("<", "\\u003c");
  return `<script type="application/json" id="texts">${data}</script>`;
}

/** Escapes text for HTML, also in quoted attributes. */
export function escapeHtml(text: string): string {
  const named: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (character) => named[character] ?? "");
}

function headersFor(framing: PageParts["framing"]): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'none'", // the script sends; a native submit would put the card into a URL
    "base-uri 'none'",
    `frame-ancestors ${framing === "any" ? "*" : "'none'"}`,
  ];
  return {
    "Content-Type": "text/html; charset=utf-8",
    Vary: "Accept-Language",
    "Content-Security-Policy": policy.join("; "),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
  };
}
