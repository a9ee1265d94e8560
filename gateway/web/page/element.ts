// Makes elements. Text goes in as text, so nothing that a merchant or a buyer wrote can become markup.

type Child = Node | string | undefined | false;

/** @param attributes set as they are; `undefined` and `false` leave one out, `true` sets an empty one */
export function makeElement<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string | boolean | undefined>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(attribute, value === true ? "" : value);
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** Puts values into `{names}` of a text. */
export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all);
}
