// Tables of records: a caption for screen readers, on a phone each row is a card with its headings.
import { type Html, html } from "../../html.ts";

export interface Column<R> {
  readonly heading: string;
  /** Numbers stand right. */
  readonly isNumber?: true;
  readonly cell: (row: R) => Html | string;
}

export interface TableParts<R> {
  /** What the rows are, for who does not see the heading above. */
  readonly caption: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  /** Said in the table's place when there is no row. */
  readonly empty: Html | string;
}

export function table<R>({ caption, columns, rows, empty }: TableParts<R>): Html {
  if (rows.length === 0)
    return html`<div class="empty">${typeof empty === "string" ? html`<p>${empty}</p>` : empty}</div>`;
  const headings = columns.map(({ heading, isNumber }) =>
    // A column of controls needs no heading: each control says what it does.
    heading === "" ? html`<td></td>` : html`<th scope="col"${isNumber ? html` class="number"` : ""}>${heading}</th>`,
  );
  const lines = rows.map((row) => {
    const cells = columns.map(
      ({ heading, isNumber, cell }) =>
        html`<td data-heading="${heading}"${isNumber ? html` class="number"` : ""}>${cell(row)}</td>`,
    );
    return html`<tr>${cells}</tr>`;
  });
  return html`<div class="table-box" role="region" aria-label="${caption}" tabindex="0"><table><caption class="visually-hidden">${caption}</caption>
<thead><tr>${headings}</tr></thead><tbody>${lines}</tbody></table></div>`;
}

/** Names and values of one record. Empty values are left out. */
export function facts(pairs: readonly (readonly [name: string, value: Html | string])[]): Html {
  const shown = pairs.filter(([, value]) => (typeof value === "string" ? value : value.text) !== "");
  return html`<dl class="facts">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
