// Builds paths, queries and bodies, and refuses values that would not arrive unchanged.

/** A path with ids. An empty id would turn `GET /v1/payments/{id}` into the list. */
export function path(parts: TemplateStringsArray, ...ids: readonly unknown[]): string {
  return parts.reduce((prefix, literal, i) => {
    const id = ids[i - 1];
    if (typeof id !== "string" || !/^[\w-]+$/.test(id)) {
      throw new TypeError(`the id after ${prefix} must be a string of letters, digits, _ and -`);
    }
    return prefix + encodeURIComponent(id) + literal;
  });
}

/** `?name=value…` without undefined values. */
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

/** JSON. Refuses numbers that JSON cannot represent exactly. */
export function bodyText(body: object): string {
  return JSON.stringify(body, (name, value: unknown) => {
    checkValue(name, value);
    return value;
  });
}

function checkValue(name: string, value: unknown): void {
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))) {
    throw new TypeError(`${name} must be a finite number`);
  }
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new TypeError(`${name} must be at most ${Number.MAX_SAFE_INTEGER}: larger numbers lose precision`);
  }
}
