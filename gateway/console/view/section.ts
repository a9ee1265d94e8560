// A part of a page that is asked for by itself: when its service is away the page says which part is missing, and shows
// the rest.
import { asFailure, type Failure } from "#platform/values/failure.ts";
import { type Html, html } from "../../html.ts";
import { fill, type Language, textsOf } from "../texts/texts.ts";

/**
 * @param name of the part, as the reader knows it
 * @throws what is no outage: a refusal, or a defect
 */
export async function section<T>(
  language: Language,
  name: string,
  ask: () => Promise<T>,
  show: (answer: T) => Html | string,
): Promise<Html | string> {
  const answer = await unlessAway(ask);
  return answer === undefined ? renderMissing(language, name) : show(answer.value);
}

/**
 * The answer, or undefined when its service is away. It begins the question itself: one that was begun before something
 * else failed would have nobody who waits for it, and end the process when it fails too.
 * @throws what is no outage
 */
export async function unlessAway<T>(ask: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (!isAway(asFailure(error))) throw error;
    return undefined;
  }
}

/** Said in the place of a part that cannot be shown. */
export function renderMissing(language: Language, name: string): Html {
  return html`<p class="missing" role="note">${fill(textsOf(language).frame.missing, { part: name })}</p>`;
}

export function isAway({ reason }: Failure): boolean {
  return reason === "SERVICE_UNAVAILABLE" || reason === "CONNECTOR_ERROR";
}
