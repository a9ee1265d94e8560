// What the operators' screens share: forms that carry their token, what is grave behind a disclosure that says what it
// does, and a refusal of a service shown beside the field that it names.
import { asFailure, type Failure } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../html.ts";
import { formFields } from "../http/form.ts";
import type { Answer, OperatorVisit, Page } from "../session/visit.ts";
import { type Language, textsOf } from "../texts/texts.ts";
import { hidden, problemSummary } from "./fields.ts";

/** What is wrong with a form, by the name of its field; an empty name: with all of it. */
export type Problems = readonly (readonly [field: string, text: string])[];
export const noProblems: Problems = [];

export interface FormParts {
  readonly action: string;
  readonly fields: readonly Html[];
  readonly button: string;
  readonly tone?: "danger" | "secondary";
  /** Read in the button's place by who sees no table around it. */
  readonly label?: string;
  readonly isInline?: true;
}

export function postForm(visit: OperatorVisit, { action, fields, button, tone, label, isInline }: FormParts): Html {
  const classes = ["button", tone ?? "", isInline ? "small" : ""].filter((each) => each !== "").join(" ");
  return html`<form method="post" action="${action}"${isInline ? html` class="inline"` : ""}>${hidden(formFields.token, visit.token)}${fields}<button class="${classes}"${label ? html` aria-label="${label}"` : ""}>${button}</button></form>`;
}

/** Behind a line that has to be opened: nothing grave is one click away. */
export function renderDetails(summary: string, body: Html, isOpen = false): Html {
  return html`<details class="more panel"${isOpen ? html` open` : ""}><summary>${summary}</summary>${body}</details>`;
}

export function panel(title: string, body: Html | string, level: 2 | 3 = 2): Html {
  const heading = level === 2 ? html`<h2>${title}</h2>` : html`<h3>${title}</h3>`;
  return html`<section class="panel">${heading}${body}</section>`;
}

/** The way to the list that this page belongs to. */
export function backTo(path: string, label: string): Html {
  return html`<p class="back"><a href="${path}">← ${label}</a></p>`;
}

export function problemOf(problems: Problems, field: string): string {
  return problems.find(([name]) => name === field)?.[1] ?? "";
}

/** Above a form that could not be taken. @param fields that the form has; others are told without a link */
export function problemBox(visit: OperatorVisit, problems: Problems): Html | string {
  return problemSummary(
    textsOf(visit.language).operatorForms.problems,
    problems.map(([field, text]) => [field === "" ? "main" : field, text] as const),
  );
}

/** Does the work; a refusal that the operator can do something about is shown on the page again. */
export async function showRefusal(
  visit: OperatorVisit,
  work: () => Promise<Answer>,
  show: (problems: Problems) => Promise<Page>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const problems = problemsOf(visit, asFailure(error));
    if (problems.length === 0) throw error;
    return { ...(await show(problems)), status: 422 };
  }
}

function problemsOf({ language }: OperatorVisit, { reason, violations }: Failure): Problems {
  const texts = textsOf(language).operatorForms;
  if (reason === "CONNECTOR_ERROR") return [["", texts.processorAway]];
  if (reason === "FEATURE_DISABLED") return [["", texts.switchedOff]];
  if (reason === "FORBIDDEN") return [["", texts.refused]];
  if (reason !== "INVALID_BODY") return noProblems;
  if (violations.length === 0) return [["", texts.notTaken]];
  // What a service says is English, and more exact than a translation that knows less.
  return violations.map(({ field, problem }) => [field, `${texts.notTaken} (${field}: ${problem})`] as const);
}

/** Who acts, as histories and notes keep it; the audit log has the person's id besides. */
export function operatorName({ session: { person } }: OperatorVisit): string {
  const email = person?.email ?? "";
  return email !== "" && email.length <= operatorNameMax ? email : (person?.id ?? "");
}
const operatorNameMax = 100;

/** A part of the address, as `:merchantId`; empty: the route has none. */
export function pathParam({ request }: OperatorVisit, name: string): string {
  const value = membersOf(request.params)[name];
  return typeof value === "string" ? value : "";
}

/** An address with its query. */
export function address(path: string, query: Readonly<Record<string, string>>): string {
  const entries = Object.entries(query).filter(([, value]) => value !== "");
  return entries.length === 0 ? path : `${path}?${new URLSearchParams(Object.fromEntries(entries)).toString()}`;
}

/** A day in UTC; undefined: none is named. */
export function dayOf(text: string): Date | undefined {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  return at && !Number.isNaN(at.getTime()) ? at : undefined;
}

/** The environment in words; unspecified: both. */
export function formatEnvironment(language: Language, environment: Environment): string {
  const texts = textsOf(language).operatorForms;
  if (environment === Environment.UNSPECIFIED) return texts.both;
  return environment === Environment.LIVE ? texts.live : texts.sandbox;
}

/** A merchant's id, with the way to it for who may see merchants. */
export function merchantLink(visit: OperatorVisit, merchantId: string): Html {
  const id = html`<code>${merchantId}</code>`;
  return visit.may("merchants.read") ? html`<a href="/merchants/${merchantId}">${id}</a>` : id;
}

/** A payment's id, with the way to its story. */
export function storyLink(paymentId: string): Html | string {
  return paymentId === "" ? "" : html`<a href="/stories/${paymentId}"><code>${paymentId}</code></a>`;
}
