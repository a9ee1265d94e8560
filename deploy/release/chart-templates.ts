// Turns the renderings of one overlay, with and without each component, into Helm templates: a line that only some of
// them have gets the condition of its component.
import { diff } from "node:util";
import { stringify } from "yaml";
import { camelCase, identityOf, type ManifestObject, marks } from "./chart-values.ts";

/** A component that a value switches: on if the overlay's own list lacks it, else off. */
export interface Switch {
  readonly component: string;
  readonly isAdded: boolean;
}

/** The overlay with one component switched. */
export interface Variant extends Switch {
  readonly objects: readonly ManifestObject[];
}

interface Line {
  readonly text: string;
  /** Empty: always. */
  readonly condition: string;
}

const isOn = ({ component }: Switch) => `.Values.components.${camelCase(component)}`;
const isSwitched = (each: Switch) => (each.isAdded ? isOn(each) : `(not ${isOn(each)})`);
const isNotSwitched = (each: Switch) => (each.isAdded ? `(not ${isOn(each)})` : isOn(each));
const conjunction = (conditions: readonly string[]) =>
  conditions.length > 1 ? `and ${conditions.join(" ")}` : conditions.join("").replace(/^\((.*)\)$/, "$1");

/** @returns a template by the object's identity */
export function templatesOf(
  overlay: string,
  own: readonly ManifestObject[],
  variants: readonly Variant[],
  hashes: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const identities = new Set([own, ...variants.map(({ objects }) => objects)].flat().map(identityOf));
  const templates = new Map<string, string>();
  for (const identity of identities) {
    const linesIn = (objects: readonly ManifestObject[]) =>
      linesOf(objects.find((object) => identityOf(object) === identity));
    const base = linesIn(own);
    const others = variants.map((variant) => ({ ...variant, lines: linesIn(variant.objects) }));
    const present = others.filter(({ lines }) => lines.length > 0);
    // An object that the overlay lacks comes with one component.
    const conditions =
      base.length > 0 ? others.filter((each) => !present.includes(each)).map(isNotSwitched) : present.map(isSwitched);
    const lines =
      base.length > 0 ? mergeLines(base, present) : (present[0]?.lines ?? []).map((text) => ({ text, condition: "" }));
    const condition = conjunction([`(eq .Values.overlay "${overlay}")`, ...conditions]);
    templates.set(identity, fillMarks(`{{- if ${condition} }}\n${printLines(lines)}\n{{- end }}\n`, overlay, hashes));
  }
  return templates;
}

/** YAML 1.1, which Helm reads: `on` and `yes` are quoted. Braces of the text itself are no template. */
function linesOf(object: ManifestObject | undefined): string[] {
  if (!object) return [];
  const text = stringify(object, { lineWidth: 0, version: "1.1", sortMapEntries: true, aliasDuplicateObjects: false });
  return text.trimEnd().replaceAll("{{", '{{ "{{" }}').split("\n");
}

function mergeLines(
  own: readonly string[],
  others: readonly (Switch & { readonly lines: readonly string[] })[],
): Line[] {
  const conditions = own.map((): string[] => []);
  const before = [...own, ""].map((): Line[] => []);
  for (const { lines, ...by } of others) {
    let at = 0;
    for (const [operation, text] of diff(lines, own)) {
      if (operation > 0) before[at]?.push({ text, condition: conjunction([isSwitched(by)]) });
      else if (operation < 0) conditions[at]?.push(isNotSwitched(by));
      if (operation <= 0) at++;
    }
  }
  const kept = own.map((text, at) => ({ text, condition: conjunction(conditions[at] ?? []) }));
  return before.flatMap((added, at) => [...added, ...kept.slice(at, at + 1)]);
}

function printLines(lines: readonly Line[]): string {
  const printed = lines.flatMap(({ text, condition }, at) => [
    ...(condition !== "" && condition !== lines[at - 1]?.condition ? [`{{- if ${condition} }}`] : []),
    text,
    ...(condition !== "" && condition !== lines[at + 1]?.condition ? ["{{- end }}"] : []),
  ]);
  return printed.join("\n");
}

function fillMarks(text: string, overlay: string, hashes: ReadonlyMap<string, string>): string {
  return text.replaceAll(marks, (_, form: string, name: string) => {
    if (form === "hash") return `${hashes.get(name)}{{ include "tollbooth.${overlay}.changed" . }}`;
    return `{{ ${form === "json" ? "toJson " : ""}.Values.${name} }}`;
  });
}
