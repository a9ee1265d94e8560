// The frame of every page of /docs: head, header with search, navigation, table of contents. On a phone the navigation
// is a popover, which needs no script.
import { Html, html } from "../../../gateway/html.ts";

/** A page of /docs without its frame. */
export interface SitePage {
  readonly address: string;
  readonly title: string;
  /** Name in the navigation; undefined: not listed. */
  readonly name?: string;
  /** One sentence, for search engines and lists. */
  readonly about: string;
  /** Follows the first heading, which is the title. */
  readonly body: Html;
  /** True: two columns, text and code. */
  readonly isReference?: true;
}

export interface NavigationSection {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

// Pages with fewer headings need no table of contents.
const headingsMin = 3;

export function renderPage(page: SitePage, navigation: readonly NavigationSection[]): string {
  const { address, title, body, isReference, about } = page;
  const contents = isReference ? html`` : contentsOf(body);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Tollbooth docs</title>
<meta name="description" content="${about}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/docs/icon.svg">
<link rel="stylesheet" href="/docs/site.css">
<script src="/docs/early.js"></script>
<script src="/docs/site.js" defer></script>
</head>
<body class="${isReference ? "reference" : "guide"}">
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="home" href="/docs">Tollbooth <span>docs</span></a>
<button type="button" class="find" id="find" aria-keyshortcuts="/ Control+K">Search <kbd>/</kbd></button>
<button type="button" class="open" popovertarget="menu">Menu</button>
</header>
<nav id="menu" popover aria-label="All pages">
<button type="button" class="close" popovertarget="menu" popovertargetaction="hide">Close</button>
${navigation.map((section) => renderSection(section, address))}
</nav>
<main id="content" tabindex="-1">
<article>
<h1>${title}</h1>
${body}
</article>
${contents}
</main>
</body>
</html>
`.text;
}

function renderSection({ title, pages }: NavigationSection, current: string): Html {
  const links = pages.map(
    ({ address, name }) =>
      html`<li><a href="${address}"${new Html(address === current ? ' aria-current="page"' : "")}>${name ?? ""}</a></li>`,
  );
  return html`<p>${title}</p><ul>${links}</ul>`;
}

function contentsOf(body: Html): Html {
  const links = [...body.text.matchAll(/<h2 id="([^"]+)"><a [^>]*>([\s\S]*?)<\/a><\/h2>/g)].map(
    ([, id = "", text = ""]) => html`<li><a href="#${id}">${new Html(text.replace(/<[^>]+>/g, ""))}</a></li>`,
  );
  if (links.length < headingsMin) return html``;
  return html`<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${links}</ul></nav>`;
}
