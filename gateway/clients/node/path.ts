// Paths, queries and bodies on their way out: what would not arrive as it was meant is refused here.

/** A path with ids in it. An empty one would turn `GET /v1/payments/{id}` into the list. */
export function path(parts: TemplateStringsArray, ...ids: readonly unknown[]): string {
  return parts.reduce((made, literal, i) => {
    const id = ids[i - 1];
    if (typeof id !== "string" || !/^[\w-]+$/.test(id)) {
      throw new TypeError(`the id behind ${made} must be a text of letters, digits, _ and -`);
    }
    return made + encodeURIComponent(id) + literal;
  });
}

/** `?name=value…`; what is undefined is left out. */
export function queryText(query: object | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    checkValue(name, value);
    search.append(name, String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

/** JSON; numbers that JSON or the API would change on the way are refused. */
export function bodyText(body: object): string {
  return JSON.stringify(body, (name, value: unknown) => {
    checkValue(name, value);
    return value;
  });
}

function checkValue(name: string, value: unknown): void {
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))) {
    throw new TypeError(`${name} must be a number that JSON has`);
  }
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new TypeError(
      `${name} must be at most ${Number.MAX_SAFE_INTEGER}: beyond that numbers lose their last digits`,
    );
  }
}
