// Carries a form through the sign-in when its session has expired, then offers to send it. It is never sent
// automatically.
import { membersOf } from "#platform/values/unchecked.ts";
import { type Html, html } from "../../html.ts";
import { localPath } from "../http/address.ts";
import { Form, fieldsMax } from "../http/form.ts";
import { textsOf } from "../texts/texts.ts";
import { hiddenField } from "../view/fields.ts";
import { cardPage, postForm } from "../view/forms.ts";
import type { Page, PersonVisit } from "./visit.ts";

const names = { path: "resume_path", fields: "resume_fields" } as const;

export interface UnsentForm {
  readonly path: string;
  readonly entries: readonly (readonly [string, string])[];
}

// Strangers can send forms too, and the page holds the fields twice.
const charactersMax = 64 * 1024;

/** Undefined for a form without fields or with too much text. */
export function unsentOf(path: string, body: unknown): UnsentForm | undefined {
  const entries = new Form(body).entries();
  const characters = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return entries.length === 0 || characters > charactersMax ? undefined : { path: localPath(path), entries };
}

/** Fields that carry the form inside the sign-in form. */
export function unsentFields(unsent: UnsentForm | undefined): readonly Html[] {
  if (!unsent) return [];
  return [hiddenField(names.path, unsent.path), hiddenField(names.fields, JSON.stringify(unsent.entries))];
}

/** The form that a sign-in form carried. */
export function unsentIn(form: Form): UnsentForm | undefined {
  const text = form.raw(names.fields);
  if (text === "") return undefined;
  return { path: localPath(form.raw(names.path)), entries: pairsOf(text) };
}

export function resumePage(visit: PersonVisit, { path, entries }: UnsentForm): Page {
  const texts = textsOf(visit.language).entry;
  const fields = entries.map(([name, value]) => hiddenField(name, value));
  return cardPage(
    texts.againTitle,
    html`<p>${texts.againText}</p>${postForm(visit, { action: path, fields, button: texts.againSend })}
<p><a href="/">${texts.back}</a></p>`,
  );
}

/** Drops malformed entries: the fields come from a browser. */
function pairsOf(text: string): (readonly [string, string])[] {
  try {
    const parsed: unknown = JSON.parse(text);
    if (!Array.isArray(parsed) || parsed.length > fieldsMax) return [];
    return parsed.flatMap((each: unknown) => {
      const { 0: name, 1: value } = membersOf(each);
      return typeof name === "string" && typeof value === "string" ? [[name, value] as const] : [];
    });
  } catch {
    return [];
  }
}
