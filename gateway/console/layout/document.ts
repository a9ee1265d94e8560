// The document of every page: head, skip link, header and main part. One style sheet, one script, nothing inline.
import { Html, html } from "../../html.ts";
import { type Language, textsOf } from "../texts/texts.ts";
import { consoleFiles } from "./files.ts";

interface DocumentParts {
  readonly language: Language;
  readonly title: string;
  /** Colors the header, which sets live apart from the sandbox. */
  readonly tone: "plain" | "sandbox" | "live" | "operators";
  readonly header: Html;
  readonly main: Html;
}

export function htmlDocument({ language, title, tone, header, main }: DocumentParts): Html {
  const texts = textsOf(language).frame;
  const { script, style } = consoleFiles();
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – Tollbooth</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style.path}">
<script type="module" src="${script.path}" integrity="${script.integrity}"></script>
</head>
<body class="tone-${tone}">
<a class="skip" href="#main">${texts.skip}</a>
${header}
<main id="main" tabindex="-1">
${main}
</main>
</body>
</html>
`;
}

/** Data for the script. `<` is escaped, so no text can close the element. */
export function dataBlock(name: string, json: string): Html {
  return html`<script type="application/json" data-name="${name}">${new Html(json.replaceAll("<", "\\u003c"))}</script>`;
}
