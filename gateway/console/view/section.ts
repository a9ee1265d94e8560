// Loads each part of a page separately. If a service is down, the page names the missing part and shows the rest.
import { asFailure, type Failure } from "#platform/values/failure.ts";
import { type Html, html } from "../../html.ts";
import { fillText, type Language, textsOf } from "../texts/texts.ts";

/** @throws every failure that is no outage */
export async function loadSection<T>(
  language: Language,
  name: string,
  load: () => Promise<T>,
  show: (answer: T) => Html | string,
): Promise<Html | string> {
  const answer = await unlessAway(load);
  return answer === undefined ? renderMissing(language, name) : show(answer.value);
}

/**
 * The answer, or undefined during an outage. It starts the call itself: a rejected promise that is not awaited yet
 * would end the process.
 * @throws every failure that is no outage
 */
export async function unlessAway<T>(load: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
  try {
    return { value: await load() };
  } catch (error) {
    if (!isAway(asFailure(error))) throw error;
    return undefined;
  }
}

export function renderMissing(language: Language, name: string): Html {
  return html`<p class="missing" role="note">${fillText(textsOf(language).frame.missing, { part: name })}</p>`;
}

export function isAway({ reason }: Failure): boolean {
  return reason === "SERVICE_UNAVAILABLE" || reason === "CONNECTOR_ERROR";
}
