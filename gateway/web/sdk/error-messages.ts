// Loads the SDK's error texts in the page's language. If the file does not load, the texts stay English.
import { type ApiContext, callApi } from "./api.ts";
import { translated } from "./error-code.ts";
import { type Members, membersOf } from "./members.ts";

declare const TOLLBOOTH_VERSION: string; // set by the build

const textsMs = 3_000; // about 1 kB, loaded in parallel with the session

/** Texts by error code, and `title`. Never rejects. */
export type ReadTexts = (context: ApiContext) => Promise<Members>;

export const readTexts: ReadTexts = async (context) => {
  const [, language] = translated.exec(context.locale) ?? [];
  if (!language) return {};
  const address = `${context.origin}/js/${TOLLBOOTH_VERSION}/texts-${language.toLowerCase()}.json`;
  const answer = await callApi(context, "GET", address, textsMs);
  return answer.ok ? membersOf(answer.value) : {};
};
