// Comments of generated code, wrapped from the document's texts.
import type { ClientOperation } from "./model.ts";

export const columnsMax = 120;

/** Splits into lines of at most `width` columns. */
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

/** A TypeScript doc comment with its line breaks; empty without text. */
export function docComment(text: string, indent: string): string {
  if (text === "") return "";
  const safe = text.replaceAll("*/", "* /");
  if (!safe.includes("\n") && indent.length + safe.length + 7 <= columnsMax) return `${indent}/** ${safe} */\n`;
  const lines = wrapText(safe, columnsMax - indent.length - 3).map((line) => `${indent} * ${line}`.trimEnd());
  return `${indent}/**\n${lines.join("\n")}\n${indent} */\n`;
}

/** The method's text in an editor. */
export function methodText(operation: ClientOperation): string {
  const { summary, text, scope, isIdempotent, result } = operation;
  const sentences = [
    `${summary}.`,
    ...(text === "" ? [] : [text]),
    ...(result.kind === "page" && result.paging !== "none" ? ["Iterating reads all pages."] : []),
    ...(isIdempotent ? ["Gets an idempotency key unless you pass one, so retries are safe."] : []),
    scope === undefined ? "Without an API key." : `Scope \`${scope}\`.`,
  ];
  return sentences.join("\n");
}
