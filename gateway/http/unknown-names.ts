// Unknown names in a request (docs/contract.md §1): refused with the most similar known name, or ignored and listed
// in the response.
import { closest, distance } from "fastest-levenshtein";
import { membersOf } from "#platform/values/unchecked.ts";

// Edit distance; two swapped letters count as two.
const slipsMax = 2;
// Together short enough for every proxy's header limit.
const ignoredMax = 10;
const ignoredLengthMax = 32;

export function unknownProblem(name: string, known: readonly string[]): string {
  const nearest = known.length > 0 ? closest(name, [...known]) : "";
  const slips = distance(name, nearest);
  const isMeant = slips <= slipsMax && slips < nearest.length;
  return isMeant ? `is not known here; did you mean ${nearest}?` : "is not known here";
}

/** Value of the header that lists ignored fields; undefined: there are no such fields. */
export function ignoredFields(schema: object, body: unknown): string | undefined {
  const known = membersOf(membersOf(schema).properties);
  const ignored = Object.keys(membersOf(body)).filter((name) => !Object.hasOwn(known, name));
  // A name may contain characters that a header may not, and slicing may split a character.
  const short = ignored.slice(0, ignoredMax).map((name) => name.slice(0, ignoredLengthMax).toWellFormed());
  const named = short.map(encodeURIComponent);
  return named.length > 0 ? named.join(", ") : undefined;
}
