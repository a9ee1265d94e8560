// What mails say, in the language of whoever gets one: a text that is missing in one language does not compile.
import type { Language } from "../rules/people/person.ts";
import { englishMails } from "./english-mails.ts";
import { germanMails } from "./german-mails.ts";
import type { MailTexts } from "./mail-facts.ts";

/** English for who has chosen none. */
export function mailTexts(language: Language): MailTexts {
  return language === "de" ? germanMails : englishMails;
}
