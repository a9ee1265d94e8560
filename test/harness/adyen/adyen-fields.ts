// Judges bodies of Adyen's API and webhooks by the models of Adyen's own library: names, required names, kinds of
// values and enumerations. Adyen refuses a field that it does not know.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as checkout from "@adyen/api-library/lib/src/typings/checkout/models.js";
import * as disputes from "@adyen/api-library/lib/src/typings/disputes/models.js";
import * as notification from "@adyen/api-library/lib/src/typings/notification/models.js";
import { type Members, membersOf } from "#platform/values/unchecked.ts";

export const libraries = { checkout, disputes, notification };
export type Library = keyof typeof libraries;

/** A value of the library as JSON has it: times and enumerations are texts. */
export type Wire<T> = T extends string
  ? `${T}`
  : T extends Date
    ? string
    : T extends readonly (infer Entry)[]
      ? Wire<Entry>[]
      : T extends object
        ? { [K in keyof T]: Wire<T[K]> }
        : T;

/** Types without a model of their own, and the one that a card payment uses in their place. */
const cardModels: Readonly<Record<string, string>> = {
  PaymentRequestPaymentMethod: "CardDetails",
  PaymentResponseAction: "CheckoutRedirectAction",
  AdditionalData: "{ [key: string]: string; }",
};

/** Why Adyen would refuse a value, a sentence each. @param type as the attribute maps of the library write it */
export function misfitsOf(library: Library, type: string, value: unknown, at = type): string[] {
  const plain = type.replace(/ \| null$/, "");
  if (plain !== type && value === null) return [];
  const [, listed] = /^Array<(.+)>$/.exec(plain) ?? [];
  if (listed)
    return Array.isArray(value) ? value.flatMap((one) => misfitsOf(library, listed, one, at)) : [`${at}: list`];
  const [, mapped] = /^\{ \[key: string\]: (.+); \}$/.exec(plain) ?? [];
  if (mapped)
    return Object.entries(membersOf(value)).flatMap(([name, one]) => misfitsOf(library, mapped, one, `${at}.${name}`));
  if (/^(?:string|number|boolean)$/.test(plain)) return typeof value === plain ? [] : [`${at}: must be a ${plain}`];
  if (plain === "Date")
    return /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(String(value)) ? [] : [`${at}: time`];
  const models: Members = libraries[library];
  const [owner = "", list = ""] = plain.split(".");
  const model = models[cardModels[owner] ?? owner];
  if (list) {
    const names = Object.values(membersOf((model as unknown as Members)[list]));
    return names.includes(value) ? [] : [`${at}: ${String(value)} must be one of ${names.join(", ")}`];
  }
  const other = cardModels[plain];
  if (other) return misfitsOf(library, other, value, at);
  return membersMisfits(library, plain, membersOf(value), at);
}

function membersMisfits(library: Library, name: string, value: Members, at: string): string[] {
  const model = (libraries[library] as unknown as Readonly<Record<string, Model>>)[name];
  if (!model) throw new Error(`the library has no model ${name}`);
  const attributes = new Map(model.getAttributeTypeMap().map((each) => [each.baseName, each.type]));
  return [
    ...requiredNames(library, name).flatMap((each) => (value[each] === undefined ? [`${at}.${each}: missing`] : [])),
    ...Object.entries(value).flatMap(([each, member]) => {
      const type = attributes.get(each);
      if (member === undefined) return [];
      return type ? misfitsOf(library, type, member, `${at}.${each}`) : [`${at}.${each}: unknown to Adyen`];
    }),
  ];
}

interface Model {
  getAttributeTypeMap(): { baseName: string; type: string }[];
}

const typings = dirname(
  dirname(fileURLToPath(import.meta.resolve("@adyen/api-library/lib/src/typings/checkout/models.js"))),
);
const required = new Map<string, string[]>();

/** The attribute maps do not mark required members; the library's declarations do. */
function requiredNames(library: Library, model: string): string[] {
  const path = join(typings, library, `${model.charAt(0).toLowerCase()}${model.slice(1)}.d.ts`);
  const known =
    required.get(path) ??
    [...readFileSync(path, "utf8").matchAll(/^ {4}["'](\w+)["']: /gm)].map(([, name = ""]) => name);
  required.set(path, known);
  return known;
}
