// The forms of Stripe's API, read into objects.

export type FormValue = string | FormObject;
export interface FormObject {
  readonly [name: string]: FormValue;
}

/** `a[b][0]=c` as `{ a: { b: { 0: "c" } } }`. */
export function parseForm(text: string): FormObject {
  const root: Record<string, unknown> = {};
  for (const [key, value] of new URLSearchParams(text)) {
    const path = key.replaceAll("]", "").split("[");
    let node = root;
    for (const segment of path.slice(0, -1)) {
      node[segment] ??= {};
      node = node[segment] as Record<string, unknown>;
    }
    node[path.at(-1) ?? ""] = value;
  }
  return root as FormObject;
}

/** The parts of a multipart form by their names, as latin1. */
export function parseParts(text: string, boundary: string): FormObject {
  const parts = text.split(`--${boundary}`).slice(1, -1);
  return Object.fromEntries(
    parts.map((part) => {
      const end = part.indexOf("\r\n\r\n");
      const name = /name="([^"]*)"/.exec(part.slice(0, end))?.[1] ?? "";
      return [name, part.slice(end + 4, -2)];
    }),
  );
}
