// The formats of ours that a request's schema can name: how the gateway checks them, in which words it refuses, and as
// which pattern the document tells them to programs that do not know our names.
import { displayFormats, displayPattern, displayProblem, lineCharacters } from "./display-text.ts";

/** An https address that people see. */
export const httpsUrl = "https-url";
/** The same, or one on this machine, which a sandbox session may have. */
export const returnUrl = "return-url";
/** RFC 3339. */
export const moment = "moment";
/** RFC 3339, or a date alone. */
export const dayOrMoment = "day-or-moment";

export const urlProblem = "must be an https URL without user information and control characters";
export const momentProblem = "must be an RFC 3339 time";
export const dayOrMomentProblem = "must be an RFC 3339 time or a date as YYYY-MM-DD";

const date = "\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])";
const hourAndMinute = "(?:[01]\\d|2[0-3]):[0-5]\\d";
const time = `[Tt]${hourAndMinute}:[0-5]\\d(?:\\.\\d{1,9})?(?:[Zz]|[+-]${hourAndMinute})`;
// An empty one clears what is stored, or is none.
const url = (scheme: string) => `^(?:${scheme}://${lineCharacters}+)?$`;

// What a pattern cannot say is checked where the value is read: whether the calendar has the day, and the host.
const patterned: Readonly<Record<string, readonly [pattern: string, problem: string]>> = {
  [httpsUrl]: [url("[Hh][Tt][Tt][Pp][Ss]"), urlProblem],
  [returnUrl]: [url("[Hh][Tt][Tt][Pp][Ss]?"), urlProblem],
  [moment]: [`^${date}${time}$`, momentProblem],
  [dayOrMoment]: [`^${date}(?:${time})?$`, dayOrMomentProblem],
};

/** By format: whether a text fits. */
export const ownFormats: Readonly<Record<string, (text: string) => boolean>> = {
  ...displayFormats,
  ...Object.fromEntries(
    Object.entries(patterned).map(([format, [pattern]]) => {
      const form = new RegExp(pattern, "u");
      return [format, (text: string) => form.test(text)];
    }),
  ),
};

/** What is wrong with a text that does not fit; undefined: the format is not one of ours. */
export function formatProblem(format: string, text: unknown): string | undefined {
  if (format in displayFormats) return displayProblem;
  const problem = patterned[format]?.[1];
  const isTime = format === moment || format === dayOrMoment;
  return problem !== undefined && isTime && typeof text === "string" ? timeProblem(text, problem) : problem;
}

/** The cause, where a time that looks right is refused; otherwise the wanted form. */
export function timeProblem(text: string, problem: string): string {
  const [, day, isoTime = ""] = /^(\d{4}-\d\d-\d\d)(?:[Tt ](.*))?$/s.exec(text) ?? [];
  if (day === undefined) return problem;
  if (/ \d\d:?\d\d$/.test(isoTime)) return `${problem}: in a query, + must be sent as %2B`;
  if (/^\d\d:\d\d:60/.test(isoTime)) return `${problem}: seconds end at 59`;
  if (day > "9999-12-30" || day < "0001-01-02") return "must be a time from 0001-01-02 to 9999-12-30";
  return problem;
}

/** What the document says beside the format. @param pattern of the schema; undefined: it has none */
export function documentedPattern(format: unknown, pattern: unknown): string | undefined {
  return patterned[String(format)]?.[0] ?? displayPattern(format, pattern);
}
