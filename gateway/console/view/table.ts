// Tables of records, which become cards on a phone, and the facts of one record.
import { type Html, html } from "../../html.ts";

interface Column<R> {
  /** Empty for a column of controls, which have names of their own. */
  readonly heading: string;
  readonly isNumber?: true;
  readonly cell: (row: R) => Html | string;
}

interface TableParts<R> {
  /** For screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  /** Shown instead of a table without rows. */
  readonly empty: string;
}

export function htmlTable<R>({ caption, columns, rows, empty }: TableParts<R>): Html {
  if (rows.length === 0) return html`<div class="empty"><p>${empty}</p></div>`;
  const headings = columns.map(({ heading, isNumber }) =>
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

/** Names and values of one record, without the empty ones. */
export function factList(pairs: readonly (readonly [name: string, value: Html | string])[]): Html {
  const shown = pairs.filter(([, value]) => (typeof value === "string" ? value : value.text) !== "");
  return html`<dl class="facts">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

export function metadataList(metadata: Readonly<Record<string, string>>): Html | string {
  const items = Object.entries(metadata).map(([name, value]) => html`<li><code>${name}</code> ${value}</li>`);
  return items.length === 0 ? "" : html`<ul class="plain">${items}</ul>`;
}
