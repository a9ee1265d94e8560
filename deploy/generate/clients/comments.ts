// Comments of generated code: the document's own words, wrapped.
import type { ClientOperation } from "./model.ts";

export const columnsMax = 120;

/** Words in lines of at most so many columns. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}

/** A doc comment of TypeScript, with its line breaks; none for no text. */
export function docComment(text: string, indent: string): string {
  if (text === "") return "";
  const safe = text.replaceAll("*/", "* /");
  if (!safe.includes("\n") && indent.length + safe.length + 7 <= columnsMax) return `${indent}/** ${safe} */\n`;
  const lines = wrapText(safe, columnsMax - indent.length - 3).map((line) => `${indent} * ${line}`.trimEnd());
  return `${indent}/**\n${lines.join("\n")}\n${indent} */\n`;
}

/** What an editor shows of a method. */
export function methodText(operation: ClientOperation): string {
  const { summary, text, scope, isIdempotent, result } = operation;
  const sentences = [
    `${summary}.`,
    ...(text === "" ? [] : [text]),
    ...(result.kind === "page" && result.paging !== "none" ? ["Iterating reads page after page."] : []),
    ...(isIdempotent ? ["Without an idempotency key of yours it gets one, so that it is safely repeated."] : []),
    scope === undefined ? "Without an API key." : `Scope \`${scope}\`.`,
  ];
  return sentences.join("\n");
}
