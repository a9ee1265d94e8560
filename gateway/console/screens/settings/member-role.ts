// The role of a member with its refund limit, as fields of the forms that invite and change one.
import type { RefundLimit, Role } from "#proto/merchant/v1/people_pb.ts";
import { majorUnits } from "../../../../services/public-json/csv.ts";
import { type Html, html } from "../../../html.ts";
import type { Form } from "../../http/form.ts";
import type { ConsoleContext, MerchantVisit } from "../../session/visit.ts";
import { translateCode } from "../../texts/labels.ts";
import { fillText, type Language, textsOf } from "../../texts/texts.ts";
import { choiceField, type Problems, problemOf, textFields } from "../../view/fields.ts";
import { minorUnits } from "../../view/values.ts";

export interface TypedRole {
  readonly role: string;
  /** In major units; empty for no limit. */
  readonly limit: string;
  /** For example `USD 100.00, GBP 80.00`. */
  readonly others: string;
}

export interface RoleChoice {
  /** Roles that this person may assign. */
  readonly roles: readonly Role[];
  /** The merchant's currency, which limits are in. */
  readonly currency: string;
}

export async function roleChoice({ peers, door }: ConsoleContext, visit: MerchantVisit): Promise<RoleChoice> {
  const { merchantId, environment } = visit;
  const [{ roles }, { merchant }] = await Promise.all([
    peers.people.listRoles({ door }),
    peers.merchants.getMerchant({ merchantId, environment }),
  ]);
  return { roles: roles.filter(({ name }) => mayChangeRole(visit, name)), currency: merchant?.currency ?? "" };
}

/** Only owners add and change owners; the service enforces it. */
export function mayChangeRole({ membership }: MerchantVisit, role: string): boolean {
  return membership.role === "owner" || role !== "owner";
}

export function readRole(
  form: Form,
  { roles, currency }: RoleChoice,
): { typed: TypedRole; refundLimit?: Pick<RefundLimit, "amount" | "currency" | "others">; isWrong: boolean } {
  const typed = { role: form.raw("role"), limit: form.text("limit"), others: form.text("others") };
  const takesLimit = roles.some(({ name, takesRefundLimit }) => name === typed.role && takesRefundLimit);
  if ((typed.limit === "" && typed.others === "") || !takesLimit) return { typed, isWrong: false };
  const amount = minorUnits(typed.limit, currency);
  const others = readLimits(typed.others, currency);
  if (amount === undefined || !others) return { typed, isWrong: true };
  return { typed, refundLimit: { amount, currency, others }, isWrong: false };
}

/** @returns minor units by currency, or undefined if a part is no amount with a further currency */
function readLimits(text: string, own: string): Record<string, bigint> | undefined {
  const limits: Record<string, bigint> = {};
  // A comma inside an amount has a digit on both sides.
  for (const part of text.split(/[;\n]|,(?!\d)/)) {
    if (part.trim() === "") continue;
    const [, code = "", typed = ""] = /^\s*([a-z]{3})\s*([\d.,]+)\s*$/i.exec(part) ?? [];
    const currency = code.toUpperCase();
    const amount = minorUnits(typed, currency);
    if (amount === undefined || currency === own || limits[currency] !== undefined) return undefined;
    limits[currency] = amount;
  }
  return limits;
}

export function typedRole(role: string, limit: RefundLimit | undefined): TypedRole {
  if (!limit) return { role, limit: "", others: "" };
  const others = Object.entries(limit.others).map(([code, amount]) => `${code} ${majorUnits(amount, code)}`);
  return { role, limit: majorUnits(limit.amount, limit.currency), others: others.sort().join(", ") };
}

export function roleFields(
  { language }: MerchantVisit,
  { roles, currency }: RoleChoice,
  { role, limit, others }: TypedRole,
  problems: Problems,
): Html {
  const texts = textsOf(language).team;
  const field = textFields({ limit, others }, problems);
  return html`${choiceField({
    ...{ name: "role", label: texts.role, one: true, values: [role], problem: problemOf(problems, "role-0") },
    choices: roles.map(({ name }) => ({ value: name, label: translateCode(language, "roles", name) })),
  })}
${field("limit", fillText(texts.limitLabel, { currency }), { hint: texts.limitHint, inputmode: "decimal", maxlength: 16 })}
${field("others", texts.otherLimits, { hint: texts.otherLimitsHint, maxlength: 200 })}`;
}

/** Problems by the service's fields. */
export function roleProblems(language: Language) {
  const texts = textsOf(language).team;
  return { role: ["role-0", texts.roleWrong], refund_limit: ["limit", texts.limitWrong] } as const;
}
