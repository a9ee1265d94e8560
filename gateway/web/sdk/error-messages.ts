// The SDK's texts for buyers in the page's language: a small file of words beside the SDK. Where it does not come, the
// texts are English.
import { type Members, membersOf } from "./members.ts";

declare const TOLLBOOTH_VERSION: string; // put in by the build

/** What there is a file for. */
export const spoken = /^(ar|de|es|fr|it|ja|nl|pl|pt)(-|$)/i; // as texts/errors; a test compares them
const textsMs = 3_000; // some 1 kB; the session comes meanwhile

/** By error code, and `title`; what a page's own texts do not replace. Never rejects. */
export type ReadTexts = (origin: string, locale: string) => Promise<Members>;

export const readTexts: ReadTexts = async (origin, locale) => {
  const [, language] = spoken.exec(locale) ?? [];
  if (!language) return {};
  try {
    const address = `${origin}/js/${TOLLBOOTH_VERSION}/texts-${language.toLowerCase()}.json`;
    const answer = await fetch(address, { credentials: "omit", signal: AbortSignal.timeout(textsMs) });
    return answer.ok ? membersOf(await answer.json()) : {};
  } catch {
    return {};
  }
};
