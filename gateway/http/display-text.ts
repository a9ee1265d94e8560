// Text that a merchant writes and other people see: buyers, colleagues, operators in a terminal. Control characters can
// rewrite a terminal, embeddings and overrides of the writing direction show another text than the one that is stored.
// Every script needs neither; the marks of right-to-left scripts (U+200E, U+200F, U+061C) change no letter's place and
// stay.

/** JSON Schema formats: a name, and a text that may have lines. */
export const displayLine = "display-line";
export const displayText = "display-text";

const direction = "\\u202a-\\u202e\\u2066-\\u2069";
// C0 and C1 with DEL, and the two separators that some programs take for the end of a line.
const inLine = new RegExp(`[\\p{Cc}\\u2028\\u2029${direction}]`, "u");
const inText = new RegExp(`[${direction}]|(?![\\t\\n\\r])\\p{Cc}`, "u");

/** JSON Schema pattern of a text that must hold something besides blanks. */
export const notBlank = "\\S";

/** By format: whether a text fits. */
export const displayFormats: Readonly<Record<string, (text: string) => boolean>> = {
  [displayLine]: (text) => !inLine.test(text),
  [displayText]: (text) => !inText.test(text),
};

/** What is wrong with a text that does not fit. */
export const displayProblem = "must hold no control characters and no embeddings or overrides of direction";
