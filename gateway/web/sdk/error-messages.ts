// The SDK's texts for buyers in the page's language: a small file of words beside the SDK. Where it does not come, the
// texts are English.
import { type ApiContext, callApi } from "./api.ts";
import { spoken } from "./error-code.ts";
import { type Members, membersOf } from "./members.ts";

declare const TOLLBOOTH_VERSION: string; // put in by the build

const textsMs = 3_000; // some 1 kB; the session comes meanwhile

/** By error code, and `title`; what a page's own texts do not replace. Never rejects. */
export type ReadTexts = (context: ApiContext) => Promise<Members>;

export const readTexts: ReadTexts = async (context) => {
  const [, language] = spoken.exec(context.locale) ?? [];
  if (!language) return {};
  const address = `${context.origin}/js/${TOLLBOOTH_VERSION}/texts-${language.toLowerCase()}.json`;
  const answer = await callApi(context, "GET", address, textsMs);
  return answer.ok ? membersOf(answer.value) : {};
};
