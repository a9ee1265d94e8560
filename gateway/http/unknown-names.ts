// Names that an operation does not have (docs/contract.md §1): refused with the known name that was probably meant, or,
// where a caller may send more, passed over and named in the answer.
import { closest, distance } from "fastest-levenshtein";
import { membersOf } from "#platform/values/unchecked.ts";

// Slips of the fingers; two letters that change places are two.
const slipsMax = 2;
// Together a header that every proxy takes.
const ignoredMax = 10;
const ignoredLengthMax = 32;

/** What is wrong with an unknown name, and what may have been meant. @param known the names that there are */
export function unknownProblem(name: string, known: readonly string[]): string {
  const nearest = known.length > 0 ? closest(name, [...known]) : "";
  const slips = distance(name, nearest);
  const isMeant = slips <= slipsMax && slips < nearest.length;
  return isMeant ? `is not known here; did you mean ${nearest}?` : "is not known here";
}

/** The value of the header that names what was passed over; undefined: nothing was. */
export function ignoredFields(schema: object, body: unknown): string | undefined {
  const known = membersOf(membersOf(schema).properties);
  const ignored = Object.keys(membersOf(body)).filter((name) => !Object.hasOwn(known, name));
  // A name can hold what no header may, and be cut in the middle of a character.
  const short = ignored.slice(0, ignoredMax).map((name) => name.slice(0, ignoredLengthMax).toWellFormed());
  const named = short.map(encodeURIComponent);
  return named.length > 0 ? named.join(", ") : undefined;
}
