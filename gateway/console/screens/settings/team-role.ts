// The choice of a role and its refund limit, in the forms that invite or edit a member.
import type { RefundLimit, Role } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import type { Form } from "../../http/form.ts";
import type { ConsoleContext, MerchantVisit } from "../../session/visit.ts";
import { translateCode } from "../../texts/labels.ts";
import { fill, type Language, textsOf } from "../../texts/texts.ts";
import { choiceField, type Problems, problemOf, textFields } from "../../view/fields.ts";
import { majorUnits, minorUnits } from "../../view/values.ts";

export interface TypedRole {
  readonly role: string;
  /** In major units; empty for no limit. */
  readonly limit: string;
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
): { typed: TypedRole; refundLimit?: Pick<RefundLimit, "amount" | "currency">; isWrong: boolean } {
  const typed = { role: form.raw("role"), limit: form.text("limit") };
  const takesLimit = roles.some(({ name, takesRefundLimit }) => name === typed.role && takesRefundLimit);
  if (typed.limit === "" || !takesLimit) return { typed, isWrong: false };
  const amount = minorUnits(typed.limit, currency);
  return amount === undefined ? { typed, isWrong: true } : { typed, refundLimit: { amount, currency }, isWrong: false };
}

export function typedRole(role: string, limit: RefundLimit | undefined): TypedRole {
  return { role, limit: limit ? majorUnits(limit.amount, limit.currency) : "" };
}

export function roleFields(
  { language }: MerchantVisit,
  { roles, currency }: RoleChoice,
  { role, limit }: TypedRole,
  problems: Problems,
): Html {
  const texts = textsOf(language).team;
  const field = textFields({ limit }, problems);
  return html`${choiceField({
    ...{ name: "role", label: texts.role, one: true, values: [role], problem: problemOf(problems, "role-0") },
    choices: roles.map(({ name }) => ({ value: name, label: translateCode(language, "roles", name) })),
  })}
${field("limit", fill(texts.limitLabel, { currency }), { hint: texts.limitHint, inputmode: "decimal", maxlength: 16 })}`;
}

/** Problems by the service's fields. */
export function roleProblems(language: Language) {
  const texts = textsOf(language).team;
  return { role: ["role-0", texts.roleWrong], refund_limit: ["limit", texts.limitWrong] } as const;
}
