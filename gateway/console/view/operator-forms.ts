// Pieces of the operators' screens: panels, dangerous actions inside a disclosure, refusals next to their fields.
import { asFailure, type Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../html.ts";
import type { Answer, OperatorVisit, Page } from "../session/visit.ts";
import { type Language, textsOf } from "../texts/texts.ts";
import { type Problems, problemSummary } from "./fields.ts";

export const noProblems: Problems = [];

export function renderDetails(summary: string, body: Html, isOpen = false): Html {
  return html`<details class="more panel"${isOpen ? html` open` : ""}><summary>${summary}</summary>${body}</details>`;
}

export function formPanel(title: string, body: Html): Html {
  return html`<section class="panel"><h2>${title}</h2>${body}</section>`;
}

export function backTo(path: string, label: string): Html {
  return html`<p class="back"><a href="${path}">← ${label}</a></p>`;
}

/** Lists of the same screen; the current one is marked. */
export function partLinks(label: string, links: readonly (readonly [path: string, text: string, isHere: boolean])[]) {
  const items = links.map(
    ([path, text, isHere]) => html`<a href="${path}"${isHere ? html` aria-current="true"` : ""}>${text}</a>`,
  );
  return html`<nav class="part-links" aria-label="${label}">${items}</nav>`;
}

/** The problems above a form; those without a field link to the page's main part. */
export function problemBox({ language }: OperatorVisit, problems: Problems): Html | string {
  const linked = problems.map(([field, text]) => [field || "main", text] as const);
  return problemSummary(textsOf(language).frame.problemTitle, linked);
}

/** Runs an action. A refusal that the operator can correct is shown on the page. */
export async function showRefusal(
  visit: OperatorVisit,
  act: () => Promise<Answer>,
  show: (problems: Problems) => Promise<Page>,
): Promise<Answer> {
  try {
    return await act();
  } catch (error) {
    const problems = problemsOf(visit, asFailure(error));
    if (problems.length === 0) throw error;
    return { ...(await show(problems)), status: 422 };
  }
}

function problemsOf({ language }: OperatorVisit, { reason, violations }: Failure): Problems {
  const texts = textsOf(language).operatorForms;
  if (reason === "CONNECTOR_ERROR") return [["", texts.processorUnavailable]];
  if (reason === "FEATURE_DISABLED") return [["", texts.switchedOff]];
  if (reason === "FORBIDDEN") return [["", texts.refused]];
  if (reason !== "INVALID_BODY") return noProblems;
  if (violations.length === 0) return [["", texts.notAccepted]];
  // The service's own English text is more exact than a general translation.
  return violations.map(({ field, problem }) => [field, `${texts.notAccepted} (${field}: ${problem})`] as const);
}

const operatorNameMax = 100;

/** The acting operator, as histories and notes name them; the audit log also has the person's id. */
export function operatorName({ session: { person } }: OperatorVisit): string {
  const email = person?.email ?? "";
  return email !== "" && email.length <= operatorNameMax ? email : (person?.id ?? "");
}

export function formatEnvironment(language: Language, environment: Environment): string {
  const texts = textsOf(language).operatorForms;
  if (environment === Environment.UNSPECIFIED) return texts.both;
  return environment === Environment.LIVE ? texts.live : texts.sandbox;
}

export function merchantLink(visit: OperatorVisit, merchantId: string): Html {
  const id = html`<code>${merchantId}</code>`;
  return visit.may("merchants.read") ? html`<a href="/merchants/${merchantId}">${id}</a>` : id;
}

export function storyLink(paymentId: string): Html | string {
  return paymentId === "" ? "" : html`<a href="/stories/${paymentId}"><code>${paymentId}</code></a>`;
}
