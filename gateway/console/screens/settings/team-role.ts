// The choice of a role with its refund limit, in the form that invites somebody and the one that changes a member.
import type { RefundLimit, Role } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import type { Form } from "../../http/form.ts";
import type { ConsoleContext, MerchantVisit } from "../../session/visit.ts";
import { translateCode } from "../../texts/labels.ts";
import { fill, textsOf } from "../../texts/texts.ts";
import { choiceField, textField } from "../../view/fields.ts";
import { majorUnits, minorUnits } from "../../view/values.ts";

/** As it was typed. */
export interface TypedRole {
  readonly role: string;
  /** In major units; empty: none. */
  readonly limit: string;
}

/** What the form needs to know. */
export interface RoleChoice {
  /** That this person may give. */
  readonly roles: readonly Role[];
  /** Of the limit: the merchant's own. */
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

/** Owners are made and changed by owners alone; the service decides. */
export function mayChangeRole({ membership }: MerchantVisit, role: string): boolean {
  return membership.role === "owner" || role !== "owner";
}

/** @returns undefined for an amount that is none */
export function readRole(
  form: Form,
  { roles, currency }: RoleChoice,
): { typed: TypedRole; refundLimit?: RefundLimitInput; isWrong: boolean } {
  const typed = { role: form.raw("role"), limit: form.text("limit") };
  const takesLimit = roles.some(({ name, takesRefundLimit }) => name === typed.role && takesRefundLimit);
  if (typed.limit === "" || !takesLimit) return { typed, isWrong: false };
  const amount = minorUnits(typed.limit, currency);
  return amount === undefined ? { typed, isWrong: true } : { typed, refundLimit: { amount, currency }, isWrong: false };
}

export type RefundLimitInput = Pick<RefundLimit, "amount" | "currency">;

export function typedRole(role: string, limit: RefundLimit | undefined): TypedRole {
  return { role, limit: limit ? majorUnits(limit.amount, limit.currency) : "" };
}

export function roleFields(
  { language }: MerchantVisit,
  { roles, currency }: RoleChoice,
  { role, limit }: TypedRole,
  wrong: ReadonlySet<string>,
): Html {
  const texts = textsOf(language).team;
  return html`${choiceField({
    name: "role",
    label: texts.role,
    one: true,
    values: [role],
    problem: wrong.has("role") ? texts.roleWrong : "",
    choices: roles.map(({ name }) => ({ value: name, label: translateCode(language, "roles", name) })),
  })}
${textField({
  name: "limit",
  label: fill(texts.limitLabel, { currency }),
  hint: texts.limitHint,
  value: limit,
  inputmode: "decimal",
  maxlength: 16,
  problem: wrong.has("refund_limit") ? texts.limitWrong : "",
})}`;
}

/** For the summary above the form: the field to go to, and what is wrong with it. */
export function roleProblems(
  { language }: MerchantVisit,
  wrong: ReadonlySet<string>,
): readonly (readonly [field: string, text: string])[] {
  const texts = textsOf(language).team;
  return [
    ...(wrong.has("role") ? [["role-0", texts.roleWrong] as const] : []),
    ...(wrong.has("refund_limit") ? [["limit", texts.limitWrong] as const] : []),
  ];
}
