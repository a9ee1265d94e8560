// Unknown names and routes in a request (docs/contract.md §1): refused with the most similar known one, or ignored and
// listed in the response.
import { closest, distance } from "fastest-levenshtein";
import { membersOf } from "#platform/values/unchecked.ts";

// Edit distance; two swapped letters count as two.
const slipsMax = 2;
// Together short enough for every proxy's header limit.
const ignoredMax = 10;
const ignoredLengthMax = 32;

export function unknownProblem(name: string, known: readonly string[]): string {
  const nearest = nearestOf(name, known, slipsMax);
  return nearest === undefined ? "is unknown" : `is unknown; did you mean ${nearest}?`;
}

/** Undefined: no name is similar. */
function nearestOf(name: string, known: readonly string[], most: number): string | undefined {
  const nearest = known.length > 0 ? closest(name, [...known]) : "";
  const slips = distance(name, nearest);
  return slips <= most && slips < nearest.length ? nearest : undefined;
}

// A forgotten `/v1` is three.
const pathSlipsMax = 3;
const plainPath = /^\/[\w./~-]{0,120}$/;
const reference = "see /docs/api";

/** The message for a path that no route has. @param paths of the operations, with `:name` for parameters */
export function unknownRoute(method: string, url: string, paths: readonly string[]): string {
  const [path = ""] = url.split("?");
  if (!plainPath.test(path)) return `no such route; ${reference}`;
  const templates = new Map(paths.map((each) => [each.replace(/:\w+/g, "{id}"), each.replace(/:(\w+)/g, "{$1}")]));
  const typed = path.replace(/\/[a-z]{2,4}_[0-9a-z]{10,}(?=\/|$)/g, "/{id}");
  const nearest = nearestOf(typed, [...templates.keys()], pathSlipsMax);
  const meant = nearest === undefined ? "; " : `; did you mean ${templates.get(nearest)}? `;
  return `no such route: ${method} ${path}${meant}${reference}`;
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
