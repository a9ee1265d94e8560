// JSON that somebody else wrote: parsed, and no deeper than anything of Tollbooth's is, so that neither this library
// nor whoever walks over its results runs out of stack.

// Nothing that the API answers is deeper than a handful.
const depthMax = 100;

/** @param visit at each value that has members. @throws SyntaxError for anything but JSON, and for what is too deep */
export function parseJson(text: string, visit: (value: object) => void = () => undefined): unknown {
  const parsed: unknown = JSON.parse(text);
  let level = [parsed].filter(hasMembers);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > depthMax) throw new SyntaxError(`nested deeper than ${depthMax}`);
    level.forEach(visit);
    level = level.flatMap((value) => Object.values(value).filter(hasMembers));
  }
  return parsed;
}

function hasMembers(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
