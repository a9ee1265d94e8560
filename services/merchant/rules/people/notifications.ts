// The kinds of notifications for a merchant's people, each with the right that it requires.
import { type Action, actionsOf } from "./roles.ts";

const kinds = {
  link_paid: "links.write",
  checkout_paid: "payments.export",
  paid_daily: "payments.export",
  dispute_opened: "disputes.answer",
  dispute_due: "disputes.answer",
  refund_failed: "payments.refund",
  endpoint_failing: "webhooks.write",
  key_created: "keys.read",
  key_expiring: "keys.read",
} as const satisfies Readonly<Record<string, Action>>;

export type NotificationKind = keyof typeof kinds;
const kindNames = Object.keys(kinds).filter(isKind);
/** All others are on by default. */
const offByDefault: readonly NotificationKind[] = ["checkout_paid", "paid_daily"];

export function isKind(name: string): name is NotificationKind {
  return Object.hasOwn(kinds, name);
}

export function kindsFor(role: string): readonly NotificationKind[] {
  const actions = actionsOf("merchants", role);
  return kindNames.filter((kind) => actions.includes(kinds[kind]));
}

/** @param choices by kind */
export function isChosen(choices: ReadonlyMap<string, boolean>, kind: NotificationKind): boolean {
  return choices.get(kind) ?? !offByDefault.includes(kind);
}
