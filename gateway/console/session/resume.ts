// What somebody was about to send when their session had ended: carried through the sign-in in the form's own fields,
// and offered to be sent again; never sent by itself.
import { membersOf } from "#platform/values/unchecked.ts";
import { type Html, html } from "../../html.ts";
import { localPath } from "../http/address.ts";
import { Form, fieldsMax, formFields } from "../http/form.ts";
import { textsOf } from "../texts/texts.ts";
import { hidden } from "../view/fields.ts";
import type { Page, PersonVisit } from "./visit.ts";

const names = { path: "resume_path", fields: "resume_fields" } as const;

/** Where to, and what with. */
export interface Unsent {
  readonly path: string;
  readonly entries: readonly (readonly [string, string])[];
}

// Anybody may send one, and the page holds it twice.
const charactersMax = 64 * 1024;

/** Of a form that came without a session; undefined: it carries nothing that could be sent again, or too much. */
export function unsentOf(path: string, body: unknown): Unsent | undefined {
  const entries = new Form(body).entries();
  const characters = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return entries.length === 0 || characters > charactersMax ? undefined : { path: localPath(path), entries };
}

/** Fields of a sign-in form that carry it. */
export function unsentFields(unsent: Unsent | undefined): readonly Html[] {
  if (!unsent) return [];
  return [hidden(names.path, unsent.path), hidden(names.fields, JSON.stringify(unsent.entries))];
}

/** What a sign-in form carried; undefined: nothing. */
export function carriedBy(form: Form): Unsent | undefined {
  const text = form.raw(names.fields);
  if (text === "") return undefined;
  return { path: localPath(form.raw(names.path)), entries: pairsOf(text) };
}

/** Offers to send it, as the person who has just signed in. */
export function resumePage(visit: PersonVisit, { path, entries }: Unsent): Page {
  const texts = textsOf(visit.language).entry;
  const fields = [...entries, [formFields.token, visit.token] as const].map(([name, value]) => hidden(name, value));
  return {
    title: texts.againTitle,
    body: html`<div class="card narrow"><h1>${texts.againTitle}</h1><p>${texts.againText}</p>
<form method="post" action="${path}">${fields}<button class="button">${texts.againSend}</button></form>
<p><a href="/">${texts.back}</a></p></div>`,
  };
}

/** Whatever is no pair of texts is left out: the fields have been in a browser. */
function pairsOf(text: string): (readonly [string, string])[] {
  try {
    const read: unknown = JSON.parse(text);
    if (!Array.isArray(read) || read.length > fieldsMax) return [];
    return read.flatMap((each: unknown) => {
      const { 0: name, 1: value } = membersOf(each);
      return typeof name === "string" && typeof value === "string" ? [[name, value] as const] : [];
    });
  } catch {
    return [];
  }
}
