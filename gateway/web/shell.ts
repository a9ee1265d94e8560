// Renders the hosted page on the server: language, merchant, branding and placeholders, so nothing moves when the
// script fills them in. Order data needs the secret, which the server does not have. `views/` has the pages that come
// complete, in the same document.
import { Html, html } from "../html.ts";
import type { ChosenLanguage } from "./languages.ts";

export interface ShellParts {
  readonly language: ChosenLanguage;
  /** Undefined if the session or its merchant is unknown. */
  readonly merchant: ShellMerchant | undefined;
  readonly reference: string | undefined;
  readonly files: PageFiles;
}

/** Public data of a merchant, which the id is enough to read. */
export interface ShellMerchant {
  readonly name: string;
  readonly tagline: string | undefined;
  readonly logoUrl: string | undefined;
  readonly email: string | undefined;
  /** `light`, `dark` or `auto`. */
  readonly theme: string;
  /** Query of the style sheet's URL. */
  readonly brandingQuery: string;
}

/** URLs of the page's own files, with hashes for `integrity`. */
export interface PageFiles {
  readonly script: { readonly src: string; readonly integrity: string };
  readonly code: { readonly src: string; readonly integrity: string };
  readonly style: string;
}

export function pageShell({ language, merchant, reference, files }: ShellParts): string {
  const { tag, texts } = language;
  const known = merchant && { name: merchant.name, ...(merchant.email && { email: merchant.email }) };
  const help = html`${supportLine(merchant?.email, texts.support)}${referenceLine(reference, texts.reference)}`;
  return pageDocument({
    ...{ language, merchant, files, isTest: false, title: merchant?.name ?? texts.title },
    data: { locale: tag, texts, style: files.style, code: files.code, merchant: known, now: Date.now() },
    main: html`<main id="page">
${merchant ? merchantHeader(merchant) : new Html('<div class="merchant" aria-hidden="true"><span class="bone bone-mark"></span><span class="bone bone-name"></span></div>')}
<section class="order" aria-hidden="true"><div class="bone bone-line"></div><div class="bone bone-amount"></div></section>
<section class="panel"><h1 class="visually-hidden">${texts.title}</h1>
<noscript><div class="notice"><p>${texts.noScript}</p>${help}</div></noscript>
<div id="skeleton" role="status"><span class="visually-hidden">${texts.loading}</span><span class="bone bone-heading"></span><span class="bone bone-field"></span><span class="bone bone-field"></span><span class="bone bone-field"></span><span class="bone bone-button"></span><div class="late"><p>${texts.slow}</p>${help}</div></div>
</section>
</main>`,
  });
}

interface DocumentParts extends Pick<ShellParts, "language" | "merchant" | "files"> {
  readonly title: string;
  /** True: the bar of the test mode is shown. */
  readonly isTest: boolean;
  /** Data for the page's script. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly main: Html;
}

export function pageDocument({ language, merchant, files, title, isTest, data, main }: DocumentParts): string {
  const { tag, direction, texts } = language;
  const { script, style } = files;
  // A data block is not executed. `<` is escaped so no text can end it.
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  return html`<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="${schemes(merchant?.theme)}">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" id="look" href="${merchant?.brandingQuery ? `${style}?${merchant.brandingQuery}` : style}">
<script type="module" src="${script.src}" integrity="${script.integrity}"></script>
</head>
<body>
<header id="test-bar" class="test-bar"${isTest ? "" : html` hidden`}><strong>${texts.testMode}</strong> – ${texts.testModeNote}</header>
${main}
<p id="live" class="visually-hidden" role="status"></p>
<script type="application/json" id="data">${new Html(json)}</script>
</body>
</html>
`.text;
}

export function merchantHeader({ name, tagline, logoUrl }: ShellMerchant): Html {
  const first = [...name][0]?.toUpperCase() ?? "";
  const mark = logoUrl
    ? html`<img class="logo" alt="" src="${logoUrl}" referrerpolicy="no-referrer">`
    : html`<span class="initial" aria-hidden="true">${first}</span>`;
  const line = tagline ? html`<p class="tagline">${tagline}</p>` : new Html("");
  return html`<header class="merchant" data-known><span class="${logoUrl ? "mark mark-wide" : "mark"}">${mark}</span><div><p class="merchant-name">${name}</p>${line}</div></header>`;
}

export function supportLine(email: string | undefined, text: string): Html {
  if (!email) return new Html("");
  const [before = "", after = ""] = text.split("{email}");
  return html`<p>${before}<a href="mailto:${email}">${email}</a>${after}</p>`;
}

function referenceLine(reference: string | undefined, label: string): Html {
  return reference ? html`<p>${label}: <bdi>${reference}</bdi></p>` : new Html("");
}

function schemes(theme: string | undefined): string {
  if (theme === "auto") return "light dark";
  return theme === "dark" ? "dark" : "light";
}
