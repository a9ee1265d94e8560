// Pieces of the operators' screens: panels, dangerous actions inside a disclosure, refusals next to their fields.
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
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

/** @param names of known merchants by id */
export function merchantLink(
  visit: OperatorVisit,
  merchantId: string,
  names: ReadonlyMap<string, string> = new Map(),
): Html {
  const shown = html`${names.get(merchantId) ?? html`<code>${merchantId}</code>`}`;
  return visit.may("merchants.read") ? html`<a href="/merchants/${merchantId}">${shown}</a>` : shown;
}

export function storyLink(paymentId: string, isInTable = false): Html | string {
  const id = isInTable ? shortId(paymentId) : html`<code>${paymentId}</code>`;
  return paymentId === "" ? "" : html`<a href="/stories/${paymentId}">${id}</a>`;
}

/** An id that fits a table's cell; the whole one is its title. */
export function shortId(id: string): Html {
  const [, prefix, tail] = /^([a-z]+_)\w+(\w{6})$/.exec(id) ?? [];
  return html`<code class="short-id" title="${id}">${prefix === undefined ? id : `${prefix}…${tail}`}</code>`;
}

/** @param address of the file, with the page's filters */
export function downloadLink({ language }: Pick<OperatorVisit, "language">, address: string): Html {
  const text = textsOf(language).operatorForms.download;
  return html`<p><a class="button secondary" href="${address}" download>${text}</a></p>`;
}

/** An environment in a file. */
export function environmentCell(environment: Environment): string {
  if (environment === Environment.UNSPECIFIED) return "";
  return environment === Environment.LIVE ? "live" : "sandbox";
}

/** A time in a file. */
export function timeCell(at: Timestamp | undefined): string {
  return at ? timestampDate(at).toISOString() : "";
}
