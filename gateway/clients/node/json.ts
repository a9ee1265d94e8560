// Parses untrusted JSON with a depth limit, so recursive code over the results cannot overflow the stack.

// The API's responses have only a few levels.
const depthMax = 100;

/** @param visit called for each object and array. @throws SyntaxError for invalid JSON, or JSON that is too deep */
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
