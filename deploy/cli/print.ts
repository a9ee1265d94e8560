// Prints a command's result: a table for people, or one JSON array for programs.
import type { Answer, Row } from "./command.ts";

/** Remarks go to standard error, so standard output has only the result. */
export function printAnswer(answer: Answer, asJson: boolean): void {
  if (!answer.isWritten) printResult(answer, asJson);
  if (answer.remark && (!asJson || answer.isBad)) console.error(answer.remark);
}

function printResult(answer: Answer, asJson: boolean): void {
  if (asJson) console.log(JSON.stringify(answer.rows, null, 2));
  else if (answer.text !== undefined) console.log(answer.text);
  else if (answer.rows.length > 0) console.log(textTable(answer.rows));
  else if (!answer.remark) console.log("nothing found");
}

/** Columns are as wide as their widest value; the header is in capitals. */
export function textTable(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [
    columns.map((name) => name.toUpperCase()),
    ...rows.map((row) => columns.map((name) => shown(row[name]))),
  ];
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

// A terminal must not execute control characters from a merchant's name.
const control = /\p{C}/gu;

function shown(value: Row[string] | undefined): string {
  if (value === undefined || value === "") return "-";
  const text = typeof value === "object" ? value.join(",") : String(value);
  return text.replace(control, "?");
}
