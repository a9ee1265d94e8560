// Judges bodies of Adyen's API and webhooks by the models of Adyen's own library: names, required names, kinds of
// values and enumerations. Adyen refuses a field that it does not know.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as checkout from "@adyen/api-library/lib/src/typings/checkout/models.js";
import * as disputes from "@adyen/api-library/lib/src/typings/disputes/models.js";
import * as notification from "@adyen/api-library/lib/src/typings/notification/models.js";
import { type Members, membersOf } from "#platform/values/unchecked.ts";

const libraries = { checkout, disputes, notification };
export type Library = keyof typeof libraries;

/** A value of the library as JSON has it: times and enumerations are texts. */
export type Wire<T> = T extends string
  ? `${T}`
  : T extends Date
    ? string
    : T extends object
      ? { [K in keyof T]: Wire<T[K]> }
      : T;

/** Types without a model, and the one that a card payment uses in their place. */
const cardModels: Readonly<Record<string, string>> = {
  PaymentRequestPaymentMethod: "CardDetails",
  "PaymentResponseAction | null": "CheckoutRedirectAction",
  AdditionalData: "{ [key: string]: string; }",
};

/** Why Adyen would refuse a value, a sentence each. @param type as the attribute maps of the library write it */
export function misfitsOf(library: Library, type: string, value: unknown, at = type): string[] {
  const plain = (cardModels[type] ?? type).replace(/ \| null$/, "");
  if (value === null && type.endsWith(" | null")) return [];
  const [, listed, mapped] = /^Array<(.+)>$|^\{ \[key: string\]: (.+); \}$/.exec(plain) ?? [];
  if (listed ? !Array.isArray(value) : mapped && typeof value !== "object") return [`${at}: no ${plain}`];
  const inner = listed ?? mapped;
  if (inner)
    return Object.entries(membersOf(value)).flatMap(([name, one]) => misfitsOf(library, inner, one, `${at}.${name}`));
  if (plain === "Date")
    return /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(String(value)) ? [] : [`${at}: no time`];
  if (plain === "number") return Number.isSafeInteger(value) ? [] : [`${at}: no whole number`];
  if (/^(?:string|boolean)$/.test(plain)) return typeof value === plain ? [] : [`${at}: no ${plain}`];
  const [owner = "", enumeration] = plain.split(".");
  const model = (libraries[library] as unknown as Readonly<Record<string, Model>>)[owner];
  if (!model) throw new Error(`the library has no model ${owner}`);
  if (enumeration === undefined) return membersMisfits(library, plain, model, membersOf(value), at);
  const names = Object.values(membersOf((model as unknown as Members)[enumeration]));
  return names.includes(value) ? [] : [`${at}: must be one of ${names.join(", ")}`];
}

interface Model {
  getAttributeTypeMap(): { baseName: string; type: string }[];
}

function membersMisfits(library: Library, name: string, model: Model, value: Members, at: string): string[] {
  const types = new Map(model.getAttributeTypeMap().map(({ baseName, type }) => [baseName, type]));
  const missing = requiredNames(library, name).filter((each) => value[each] === undefined);
  const judged = Object.entries(value).flatMap(([each, member]) => {
    const type = types.get(each);
    return type ? misfitsOf(library, type, member, `${at}.${each}`) : [`${at}.${each}: unknown to Adyen`];
  });
  return [...missing.map((each) => `${at}.${each}: missing`), ...judged];
}

/** The attribute maps do not mark required members; the library's declarations do. */
function requiredNames(library: Library, model: string): string[] {
  const file = `${library}/${model.charAt(0).toLowerCase()}${model.slice(1)}.d.ts`;
  const url = import.meta.resolve(`@adyen/api-library/lib/src/typings/${file}`);
  const text = readFileSync(fileURLToPath(url), "utf8");
  return [...text.matchAll(/^ {4}["'](\w+)["']: /gm)].map(([, name = ""]) => name);
}
