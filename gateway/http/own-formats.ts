// Our own JSON Schema formats: the check, the problem text of a refusal, and the pattern in the OpenAPI document.
import { displayFormats, displayPattern, displayProblem, lineCharacters } from "./display-text.ts";

/** An https URL. */
export const httpsUrl = "https-url";
/** Also http, for the localhost of a sandbox session. */
export const returnUrl = "return-url";
export const moment = "moment";
export const dayOrMoment = "day-or-moment";

export const urlProblem = "must be an https URL, without a user name, password or control characters";
export const momentProblem = "must be an RFC 3339 time";
export const dayOrMomentProblem = "must be an RFC 3339 time or a date as YYYY-MM-DD";

const date = "\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])";
const hourAndMinute = "(?:[01]\\d|2[0-3]):[0-5]\\d";
const time = `[Tt]${hourAndMinute}:[0-5]\\d(?:\\.\\d{1,9})?(?:[Zz]|[+-]${hourAndMinute})`;
// Empty clears the stored value.
const url = (scheme: string) => `^(?:${scheme}://${lineCharacters}+)?$`;

// Handlers check what a pattern cannot: the calendar day and the host.
const patterned: Readonly<Record<string, readonly [pattern: string, problem: string]>> = {
  [httpsUrl]: [url("[Hh][Tt][Tt][Pp][Ss]"), urlProblem],
  [returnUrl]: [url("[Hh][Tt][Tt][Pp][Ss]?"), urlProblem],
  [moment]: [`^${date}${time}$`, momentProblem],
  [dayOrMoment]: [`^${date}(?:${time})?$`, dayOrMomentProblem],
};

export const ownFormats: Readonly<Record<string, (text: string) => boolean>> = {
  ...displayFormats,
  ...Object.fromEntries(
    Object.entries(patterned).map(([format, [pattern]]) => {
      const form = new RegExp(pattern, "u");
      return [format, (text: string) => form.test(text)];
    }),
  ),
};

/** The problem of a text that does not fit; undefined: the format is not ours. */
export function formatProblem(format: string, text: unknown): string | undefined {
  if (format in displayFormats) return displayProblem;
  const problem = patterned[format]?.[1];
  const isTime = format === moment || format === dayOrMoment;
  return problem !== undefined && isTime && typeof text === "string" ? timeProblem(text, problem) : problem;
}

/** The specific cause for common mistakes, otherwise the expected form. */
export function timeProblem(text: string, problem: string): string {
  const [, day, isoTime = ""] = /^(\d{4}-\d\d-\d\d)(?:[Tt ](.*))?$/s.exec(text) ?? [];
  if (day === undefined) return problem;
  if (/ \d\d:?\d\d$/.test(isoTime)) return `${problem}: in a query, + must be sent as %2B`;
  if (/^\d\d:\d\d:60/.test(isoTime)) return `${problem}: seconds end at 59`;
  if (day > "9999-12-30" || day < "0001-01-02") return "must be a time from 0001-01-02 to 9999-12-30";
  return problem;
}

/** The pattern that the document adds to a format. @param pattern of the schema, if any */
export function documentedPattern(format: unknown, pattern: unknown): string | undefined {
  return patterned[String(format)]?.[0] ?? displayPattern(format, pattern);
}
