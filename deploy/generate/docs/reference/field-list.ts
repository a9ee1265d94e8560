// The fields of a schema as a vertical list, which also fits a phone. A named object has its own section, which the
// field links to; an object without a name is shown in place with dotted names.
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import { type Html, html, inlineCode } from "../../../../gateway/html.ts";
import { textsOf } from "../../clients/shape.ts";
import { referredName, resolveSchema } from "./api-operation.ts";

/** Address of a named object's section; undefined: its fields are shown in place. */
export type FindAddress = (name: string) => string | undefined;

interface Field {
  readonly name: string;
  readonly schema: Members;
  readonly isRequired: boolean;
}

const depthMax = 5;

/** @param isSent requests mark required fields; responses mark optional ones */
export function fieldList(document: Members, schema: Members, isSent: boolean, findAddress: FindAddress): Html {
  const fields = fieldsOf(document, resolveSchema(document, schema), "", 0, findAddress);
  if (fields.length === 0) return html`<p>No fields.</p>`;
  return fieldRows(fields, isSent, findAddress);
}

export function fieldRows(fields: readonly Field[], isSent: boolean, findAddress: FindAddress): Html {
  const rows = fields.map(({ name, schema, isRequired }) => {
    const need = isSent
      ? isRequired
        ? html` <b>required</b>`
        : html``
      : isRequired
        ? html``
        : html` <em>may be absent</em>`;
    const text = [schema.description, boundsOf(schema)].filter(Boolean).join(" ");
    return html`<li><p><code>${name}</code> <span>${typeOf(schema, findAddress)}</span>${need}</p><p>${inlineCode(text)}</p></li>`;
  });
  return html`<ul class="fields">${rows}</ul>`;
}

function fieldsOf(
  document: Members,
  schema: Members,
  prefix: string,
  depth: number,
  findAddress: FindAddress,
): Field[] {
  if (depth > depthMax) throw new Error("schema too deep");
  return Object.entries(membersOf(schema.properties)).flatMap(([name, value]) => {
    const property = membersOf(value);
    const own: Members = { ...resolveSchema(document, property), $ref: property.$ref };
    const isRequired = textsOf(schema.required).includes(name) && !("default" in own);
    const items = membersOf(own.type === "array" ? own.items : property);
    const named = referredName(items);
    const field: Field = { name: prefix + name, schema: own, isRequired };
    if (named !== undefined && findAddress(named) !== undefined) return [field];
    const inner = own.type === "array" ? `${field.name}[].` : `${field.name}.`;
    return [field, ...fieldsOf(document, resolveSchema(document, items), inner, depth + 1, findAddress)];
  });
}

function typeOf(schema: Members, findAddress: FindAddress): Html {
  if (schema.type === "array") return html`array of ${typeOf(membersOf(schema.items), findAddress)}`;
  const name = referredName(schema);
  const address = name === undefined ? undefined : findAddress(name);
  if (name !== undefined && address !== undefined) return html`<a href="${address}">${name}</a>`;
  return html`${[schema.type ?? "object"].flat().join(" or ")}`;
}

const grouped = new Intl.NumberFormat("en-US");

function boundsOf(schema: Members): string {
  const parts: string[] = [];
  const { minimum, maximum, minLength, maxLength, maxItems } = schema;
  if (Array.isArray(schema.enum)) parts.push(`One of ${schema.enum.map((value) => `\`${value}\``).join(", ")}.`);
  if (typeof minimum === "number") parts.push(`At least ${grouped.format(minimum)}.`);
  if (typeof maximum === "number" && maximum !== Number.MAX_SAFE_INTEGER)
    parts.push(`At most ${grouped.format(maximum)}.`);
  if (typeof minLength === "number" && minLength !== 1) parts.push(`At least ${minLength} characters.`);
  if (typeof maxLength === "number") parts.push(`At most ${grouped.format(maxLength)} characters.`);
  if (typeof maxItems === "number") parts.push(`At most ${grouped.format(maxItems)} entries.`);
  if (schema.default !== undefined) parts.push(`Default ${schema.default}.`);
  return parts.join(" ");
}
