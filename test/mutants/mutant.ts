// One mutant: a small wrong edit of the money paths, kept as data. `npm run prove -- mutants` makes it and expects that
// a test tells.

export interface Mutant {
  /** Path from the root. */
  readonly file: string;
  /** Text that the file holds exactly once, on one line or more. */
  readonly find: string;
  readonly replace: string;
  /** The guarantee that it breaks. */
  readonly breaks: string;
  /** Why nobody could ever see it. Such a mutant may live. */
  readonly cannotMatter?: string;
}

/** What an edit of a file is written as: find, replace, what it breaks, and why it cannot matter. */
export type Edit = readonly [find: string, replace: string, breaks: string, cannotMatter?: string];

/** The mutants of one file. */
export function mutantsOf(file: string, edits: readonly Edit[]): Mutant[] {
  return edits.map(([find, replace, breaks, cannotMatter]) => ({
    file,
    find,
    replace,
    breaks,
    ...(cannotMatter !== undefined && { cannotMatter }),
  }));
}

/** The file's text with the mutant in it. @throws when `find` is not there exactly once, or nothing would change. */
export function mutated({ file, find, replace }: Mutant, text: string): string {
  const places = text.split(find).length - 1;
  if (places !== 1) throw new Error(`${file} holds ${JSON.stringify(find)} ${places} times, not once`);
  if (find === replace) throw new Error(`${file}: ${JSON.stringify(find)} is replaced by itself`);
  return text.replace(find, () => replace);
}

/** The edit in one short line. */
export function editOf({ find, replace }: Mutant): string {
  const [before, after] = difference(oneLine(find), oneLine(replace));
  return `${before || "(nothing)"} → ${after || "(nothing)"}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Without the words that both begin and end with; a word of each is kept, so that it can be found. */
function difference(a: string, b: string): [string, string] {
  const [left, right] = [a.split(" "), b.split(" ")];
  let same = 0;
  while (same < Math.min(left.length, right.length) && left[same] === right[same]) same++;
  let tail = 0;
  while (tail < Math.min(left.length, right.length) - same && left.at(-1 - tail) === right.at(-1 - tail)) tail++;
  const from = Math.max(0, same - 1);
  const cut = (words: string[]) => words.slice(from, words.length - tail).join(" ");
  return [cut(left), cut(right)];
}
