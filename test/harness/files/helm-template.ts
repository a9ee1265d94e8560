// Renders a Helm chart without Helm: exactly the forms of Go's templates that our chart has, so any other fails.
import { createHash } from "node:crypto";

type Values = Readonly<Record<string, unknown>>;
type Node = string | { readonly action: string; readonly body?: readonly Node[] };

/** @param files of the chart by path. @param values as Helm has merged them. @returns the text of each template */
export function renderChart(files: ReadonlyMap<string, string>, values: Values): string[] {
  const definitions = new Map<string, readonly Node[]>();
  const parsed = [...files]
    .filter(([path]) => path.startsWith("templates/"))
    .map(([path, text]) => ({ path, nodes: nodesOf(text) }));
  for (const { nodes } of parsed) {
    for (const node of nodes) {
      if (typeof node !== "string" && node.action.startsWith("define ")) {
        definitions.set(JSON.parse(node.action.slice(7)), node.body ?? []);
      }
    }
  }
  const scope = { Values: values };
  const print = (nodes: readonly Node[]): string =>
    nodes
      .map((node) => {
        if (typeof node === "string") return node;
        if (node.action.startsWith("define ")) return "";
        if (!node.action.startsWith("if ")) return textOf(evaluate(node.action, scope, include));
        return isTrue(evaluate(node.action.slice(3), scope, include)) ? print(node.body ?? []) : "";
      })
      .join("");
  const include = (name: string): string => {
    const body = definitions.get(name);
    if (!body) throw new Error(`no template is named ${name}`);
    return print(body);
  };
  return parsed.filter(({ path }) => path.endsWith(".yaml")).map(({ nodes }) => print(nodes));
}

/** `{{-` removes the white space before it, `-}}` that after it. */
function nodesOf(text: string): Node[] {
  const stack: { action: string; body: Node[] }[] = [{ action: "", body: [] }];
  const add = (node: Node) => stack.at(-1)?.body.push(node);
  let from = 0;
  let doesTrim = false;
  const addText = (until: number, trimsEnd: boolean) => {
    let plain = text.slice(from, until);
    if (doesTrim) plain = plain.trimStart();
    add(trimsEnd ? plain.trimEnd() : plain);
  };
  for (const match of text.matchAll(/\{\{(-? )([\s\S]*?)( -?)\}\}/g)) {
    const [whole, open, action = "", close] = match;
    addText(match.index, open === "- ");
    from = match.index + whole.length;
    doesTrim = close === " -";
    if (/^(if|define) /.test(action)) stack.push({ action, body: [] });
    else if (action === "end") add(stack.pop() ?? "");
    else add({ action });
  }
  addText(text.length, false);
  if (stack.length !== 1) throw new Error("an if or a define has no end");
  return stack[0]?.body ?? [];
}

function evaluate(expression: string, scope: Values, include: (name: string) => string): unknown {
  const tokens = expression.match(/"[^"]*"|`[^`]*`|[()|]|[^\s()|]+/g) ?? [];
  let at = 0;
  const term = (): unknown => {
    const token = tokens[at++] ?? "";
    if (token === "(") {
      const inner = pipeline();
      at++; // the closing parenthesis
      return inner;
    }
    if (/^["`]/.test(token)) return token.slice(1, -1);
    if (/^\d+$/.test(token)) return Number(token);
    if (token.startsWith(".")) return memberOf(scope, token);
    throw new Error(`not understood: ${token} of ${expression}`);
  };
  const command = (piped: readonly unknown[]): unknown => {
    const name = /^[a-z]\w*$/i.test(tokens[at] ?? "") ? (tokens[at++] ?? "") : "";
    const words: unknown[] = [];
    while (at < tokens.length && tokens[at] !== ")" && tokens[at] !== "|") words.push(term());
    return name === "" ? words[0] : call(name, [...words, ...piped], include);
  };
  const pipeline = (): unknown => {
    let value = command([]);
    while (tokens[at] === "|") {
      at++;
      value = command([value]);
    }
    return value;
  };
  return pipeline();
}

function call(name: string, words: readonly unknown[], include: (name: string) => string): unknown {
  const [one, other] = words;
  const functions: Readonly<Record<string, () => unknown>> = {
    and: () => words.every(isTrue),
    not: () => !isTrue(one),
    eq: () => one === other,
    ne: () => one !== other,
    list: () => words,
    toJson: () => JSON.stringify(sorted(one)),
    sha256sum: () => createHash("sha256").update(textOf(one)).digest("hex"),
    trunc: () => textOf(other).slice(0, Number(one)),
    include: () => include(textOf(one)),
  };
  const known = functions[name];
  if (!known) throw new Error(`the chart uses ${name}, which this evaluator lacks`);
  return known();
}

/** @throws where Helm would print nothing or `<no value>` */
function memberOf(scope: Values, path: string): unknown {
  if (path === ".") return scope;
  let value: unknown = scope;
  for (const name of path.slice(1).split(".")) {
    if (typeof value !== "object" || value === null || !(name in value)) throw new Error(`no value: ${path}`);
    value = Reflect.get(value, name);
  }
  return value;
}

/** Go prints the members of a map by name. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

const textOf = (value: unknown) => String(value);
const isTrue = (value: unknown) => value !== false && value !== "" && value !== 0;
