// A form that is one button, and the page that asks before what cannot be taken back.
import { type Html, html } from "../../html.ts";
import { formFields } from "../http/form.ts";
import type { Page, PersonVisit } from "../session/visit.ts";
import { textsOf } from "../texts/texts.ts";
import { hidden } from "./fields.ts";

export interface ButtonFormParts {
  readonly action: string;
  /** On the button. */
  readonly text: string;
  /** What the button does, where its text says it only beside its row. */
  readonly label?: string;
  readonly fields?: readonly Html[];
  readonly kind?: "primary" | "secondary" | "danger";
  readonly isSmall?: true;
}

export function buttonForm({ token }: Pick<PersonVisit, "token">, parts: ButtonFormParts): Html {
  const { action, text, label, fields = [], kind = "secondary", isSmall } = parts;
  const classes = `button${kind === "primary" ? "" : ` ${kind}`}${isSmall ? " small" : ""}`;
  const named = label === undefined ? "" : html` aria-label="${label}"`;
  return html`<form method="post" action="${action}" class="inline">${hidden(formFields.token, token)}${fields}<button class="${classes}"${named}>${text}</button></form>`;
}

export interface QuestionParts {
  readonly title: string;
  /** What follows from it. */
  readonly text: Html | string;
  readonly action: string;
  /** On the button, as what is done. */
  readonly button: string;
  readonly kind?: "primary" | "danger";
  /** Fields to choose from, and hidden ones. */
  readonly fields?: readonly Html[];
  /** Where to, when it is not done. */
  readonly back: string;
}

/** Asks before it is done. */
export function questionPage({ language, token }: PersonVisit, parts: QuestionParts): Page {
  const { title, text, action, button, kind = "danger", fields = [], back } = parts;
  return {
    title,
    body: html`<div class="panel question"><h1>${title}</h1>${typeof text === "string" ? html`<p>${text}</p>` : text}
<form method="post" action="${action}">${hidden(formFields.token, token)}${fields}
<div class="actions"><button class="button${kind === "danger" ? " danger" : ""}">${button}</button><a href="${back}">${textsOf(language).frame.leaveIt}</a></div></form></div>`,
  };
}
