// Builds HTML text that cannot be broken by what stands in it: values are escaped, only Html passes as it is.

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlPart = string | number | Html | readonly Html[];

/** A template whose values are escaped. */
export function html(texts: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(texts.map((text, i) => text + (i < parts.length ? shown(parts[i] ?? "") : "")).join(""));
}

function shown(part: HtmlPart): string {
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map((each) => each.text).join("\n");
  return escaped(String(part));
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Our own short texts: `code` in backticks, paragraphs by empty lines. */
export function prose(text: string): Html {
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
