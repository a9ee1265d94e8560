// Builds HTML: every value is escaped, except Html itself.

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlValue = string | number | Html | readonly Html[];

export function html(texts: TemplateStringsArray, ...parts: readonly HtmlValue[]): Html {
  return new Html(texts.map((text, i) => text + (i < parts.length ? shown(parts[i] ?? "") : "")).join(""));
}

function shown(value: HtmlValue): string {
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map((each) => each.text).join("\n");
  return escaped(String(value));
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Renders short texts of ours: `code` in backticks, paragraphs separated by empty lines. */
export function proseHtml(text: string): Html {
  return new Html(
    text
      .split("\n\n")
      .map((paragraph) => `<p>${inlineCode(paragraph).text}</p>`)
      .join("\n"),
  );
}

/** One line with `code` in backticks. */
export function inlineCode(text: string): Html {
  return new Html(escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>"));
}
