// Creates elements. Text is inserted as text, so input of merchants or buyers cannot become markup.

type Child = Node | string | undefined | false;

/** @param attributes `undefined` and `false` omit an attribute, `true` sets an empty one */
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

export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all);
}
