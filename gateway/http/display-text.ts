// Checks text that a merchant writes and others see. Control characters can rewrite a terminal; direction embeddings
// and overrides display another text than the stored one. The marks of right-to-left scripts (U+200E, U+200F, U+061C)
// move no letter and are allowed.

/** JSON Schema formats: a single line, and a text with lines. */
export const displayLine = "display-line";
export const displayText = "display-text";

const direction = "\\u202a-\\u202e\\u2066-\\u2069";
// C0, DEL and C1, and two separators that some programs treat as line ends.
const inLine = `\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029${direction}`;
// Without tab, LF and CR.
const inText = `\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f${direction}`;
const strange: Readonly<Record<string, string>> = { [displayLine]: inLine, [displayText]: inText };

/** Pattern class of the characters allowed in a line. */
export const lineCharacters = `[^${inLine}]`;

/** JSON Schema pattern of a text that must not be blank. */
export const notBlank = "\\S";

export const displayFormats: Readonly<Record<string, (text: string) => boolean>> = Object.fromEntries(
  Object.entries(strange).map(([format, characters]) => {
    const found = new RegExp(`[${characters}]`);
    return [format, (text: string) => !found.test(text)];
  }),
);

/**
 * The same check as a pattern, for readers of the document who do not know our formats.
 * @param pattern of the schema, if any
 */
export function displayPattern(format: unknown, pattern: unknown): string | undefined {
  const characters = strange[String(format)];
  if (characters === undefined) return undefined;
  return pattern === notBlank ? `^[^${characters}]*[^${characters}\\s][^${characters}]*$` : `^[^${characters}]*$`;
}

export const displayProblem = "must not contain control characters or direction embeddings or overrides";
