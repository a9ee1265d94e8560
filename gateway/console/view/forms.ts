// Forms by POST with the session's token, small pages, and the page that confirms an action.
import { type Html, html } from "../../html.ts";
import { formFields } from "../http/form.ts";
import type { Page, PersonVisit } from "../session/visit.ts";
import { textsOf } from "../texts/texts.ts";
import { hiddenField, renderAlert } from "./fields.ts";

interface PostFormParts {
  /** Default: the address of the page. */
  readonly action?: string;
  readonly fields?: readonly Html[];
  readonly button: string;
  /** Accessible name of a button whose text is ambiguous outside its row. */
  readonly label?: string;
  readonly tone?: "secondary" | "danger";
  /** `inline`: a button among others; `row`: a small button in a table. */
  readonly layout?: "inline" | "row" | "panel";
  readonly link?: Html;
}

export function postForm({ token }: Pick<PersonVisit, "token">, parts: PostFormParts): Html {
  const { action, fields = [], button, label, tone, layout, link } = parts;
  const target = action === undefined ? "" : html` action="${action}"`;
  const formClass = layout === undefined ? "" : html` class="${layout === "panel" ? "panel" : "inline"}"`;
  const buttonClass = ["button", tone, layout === "row" && "small"].filter(Boolean).join(" ");
  const submit = html`<button class="${buttonClass}"${label ? html` aria-label="${label}"` : ""}>${button}</button>`;
  return html`<form method="post"${target}${formClass}>${[hiddenField(formFields.token, token), ...fields]}
${link ? html`<div class="actions">${submit}${link}</div>` : submit}</form>`;
}

interface QuestionParts extends Pick<PostFormParts, "action" | "button" | "fields"> {
  readonly title: string;
  readonly text: Html;
  readonly isHarmless?: boolean;
  readonly problem?: string;
  /** Address of the page that a person returns to without acting. */
  readonly back: string;
}

export function questionPage(visit: PersonVisit, parts: QuestionParts): Page {
  const { title, text, isHarmless, problem = "", back, ...form } = parts;
  const link = html`<a href="${back}">${textsOf(visit.language).frame.goBack}</a>`;
  return {
    title,
    status: problem === "" ? 200 : 422,
    body: html`<div class="panel question"><h1>${title}</h1>${renderAlert(problem)}${text}
${postForm(visit, { ...form, link, ...(!isHarmless && { tone: "danger" }) })}</div>`,
  };
}

/** A small page without navigation. */
export function cardPage(title: string, body: Html, status = 200): Page {
  return { title, status, body: html`<div class="card narrow"><h1>${title}</h1>${body}</div>` };
}
