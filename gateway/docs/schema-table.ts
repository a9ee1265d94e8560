// A schema as a table of its fields; objects within objects become dotted names.
import { type Members, membersOf } from "#platform/values/members.ts";
import { type Html, html, inlineCode } from "./html.ts";

// Payments with refunds are 2 levels deep; this only guards against a schema that holds itself.
const depthMax = 5;

/** @param schema JSON Schema of an object. */
export function fieldTable(schema: object): Html {
  const rows = rowsOf(schema, "", 0).map(
    (row) => html`<tr><td><code>${row.name}</code></td><td>${row.type}${row.required ? "" : ", optional"}</td>
<td>${inlineCode(row.text)}</td></tr>`,
  );
  if (rows.length === 0) return html`<p>No fields.</p>`;
  return html`<table><thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows}</tbody></table>`;
}

interface Row {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly text: string;
}

function rowsOf(schema: object, prefix: string, depth: number): Row[] {
  if (depth > depthMax) return [];
  const fields = membersOf(schema);
  return Object.entries(membersOf(fields.properties)).flatMap(([name, property]) => {
    const field = membersOf(property);
    const row: Row = {
      name: prefix + name,
      type: typeName(field),
      required: [fields.required].flat().includes(name) && !("default" in field),
      text: [field.description, bounds(field)].filter(Boolean).join(" "),
    };
    const inside = field.type === "array" ? membersOf(field.items) : field;
    const inner = field.type === "array" ? `${row.name}[].` : `${row.name}.`;
    return [row, ...rowsOf(inside, inner, depth + 1)];
  });
}

function typeName(field: Members): string {
  if (field.type === "array") return `array of ${typeName(membersOf(field.items))}`;
  return [field.type].flat().join(" or ");
}

function bounds(field: Members): string {
  const parts: string[] = [];
  if (Array.isArray(field.enum)) parts.push(`One of ${field.enum.map((word) => `\`${word}\``).join(", ")}.`);
  if (field.minimum !== undefined) parts.push(`At least ${field.minimum}.`);
  if (field.maximum !== undefined && field.maximum !== Number.MAX_SAFE_INTEGER) parts.push(`At most ${field.maximum}.`);
  if (field.minLength !== undefined && field.minLength !== 1) parts.push(`At least ${field.minLength} characters.`);
  if (field.maxLength !== undefined) parts.push(`At most ${field.maxLength} characters.`);
  if (field.maxItems !== undefined) parts.push(`At most ${field.maxItems} entries.`);
  if (field.default !== undefined) parts.push(`Default ${field.default}.`);
  return parts.join(" ");
}
