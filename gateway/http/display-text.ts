// Text that a merchant writes and other people see: buyers, colleagues, operators in a terminal. Control characters can
// rewrite a terminal, embeddings and overrides of the writing direction show another text than the one that is stored.
// Every script needs neither; the marks of right-to-left scripts (U+200E, U+200F, U+061C) change no letter's place and
// stay.

/** JSON Schema formats: a name, and a text that may have lines. */
export const displayLine = "display-line";
export const displayText = "display-text";

const direction = "\\u202a-\\u202e\\u2066-\\u2069";
// C0 and C1 with DEL, and the two separators that some programs take for the end of a line.
const inLine = `\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029${direction}`;
// Of these a text may have tabs and ends of lines.
const inText = `\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f${direction}`;
const strange: Readonly<Record<string, string>> = { [displayLine]: inLine, [displayText]: inText };

/** Character class, in a pattern, of what a line takes. */
export const lineCharacters = `[^${inLine}]`;

/** JSON Schema pattern of a text that must hold something besides blanks. */
export const notBlank = "\\S";

/** By format: whether a text fits. */
export const displayFormats: Readonly<Record<string, (text: string) => boolean>> = Object.fromEntries(
  Object.entries(strange).map(([format, characters]) => {
    const found = new RegExp(`[${characters}]`);
    return [format, (text: string) => !found.test(text)];
  }),
);

/**
 * The same for whoever reads the document and does not know our formats: a pattern.
 * @param pattern of the schema; undefined: it has none
 */
export function displayPattern(format: unknown, pattern: unknown): string | undefined {
  const characters = strange[String(format)];
  if (characters === undefined) return undefined;
  return pattern === notBlank ? `^[^${characters}]*[^${characters}\\s][^${characters}]*$` : `^[^${characters}]*$`;
}

/** What is wrong with a text that does not fit. */
export const displayProblem = "must hold no control characters and no embeddings or overrides of direction";
