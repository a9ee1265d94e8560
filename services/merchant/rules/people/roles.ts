// The roles of each console and their actions. The consoles show this table, and a test tries every action with every
// role.
import type { Door } from "./door.ts";

/** In the order in which the console shows them. */
const merchantActions = [
  "payments.read",
  "payments.export",
  "payments.refund",
  "payments.capture",
  "payments.cancel",
  "payments.note",
  "links.write",
  "disputes.answer",
  "webhooks.read",
  "webhooks.write",
  "keys.read",
  "keys.write",
  "logs.read",
  "branding.write",
  "connectors.read",
  "connectors.write",
  "profile.write",
  "team.read",
  "team.write",
  "audit.read",
  "books.read",
] as const;

const operatorActions = [
  "merchants.read",
  "merchants.write",
  "applications.read",
  "applications.decide",
  "operations.read",
  "operations.resolve",
  "suspense.resolve",
  "statements.read",
  "risk.read",
  "risk.write",
  "fees.read",
  "fees.write",
  "journal.read",
  "journal.propose",
  "journal.approve",
  "team.read",
  "team.write",
  "audit.read",
] as const;

export type Action = (typeof merchantActions)[number] | (typeof operatorActions)[number];

export interface Role {
  readonly name: string;
  readonly actions: readonly Action[];
  /** Whether a member can have a limit per refund. */
  readonly takesRefundLimit: boolean;
  /** Only an owner grants and removes this role, and the last owner stays. */
  readonly isOwner: boolean;
}

interface Table {
  readonly actions: readonly Action[];
  /** From highest to lowest: a member grants no role above their own. */
  readonly roles: readonly Role[];
}

function role(name: string, actions: readonly Action[], marks: Partial<Role> = {}): Role {
  return { name, actions, takesRefundLimit: false, isOwner: false, ...marks };
}

const merchants: Table = {
  actions: merchantActions,
  roles: [
    role("owner", merchantActions, { isOwner: true }),
    role("admin", merchantActions),
    role("developer", [
      "payments.read",
      "payments.note",
      "webhooks.read",
      "webhooks.write",
      "keys.read",
      "keys.write",
      "logs.read",
      "connectors.read",
    ]),
    role(
      "support",
      [
        "payments.read",
        "payments.refund",
        "payments.capture",
        "payments.cancel",
        "payments.note",
        "links.write",
        "disputes.answer",
        "webhooks.read",
      ],
      { takesRefundLimit: true },
    ),
    role("finance", [
      "payments.read",
      "payments.export",
      "payments.note",
      "connectors.read",
      "audit.read",
      "books.read",
    ]),
    role("viewer", ["payments.read"]),
  ],
};

const operators: Table = {
  actions: operatorActions,
  roles: [
    role("owner", operatorActions, { isOwner: true }),
    role(
      "operator",
      operatorActions.filter((action) => action !== "team.write"),
    ),
    role(
      "auditor",
      operatorActions.filter((action) => action.endsWith(".read")),
    ),
  ],
};

export function rightsOf(door: Door): Table {
  return door === "operators" ? operators : merchants;
}

export function roleNamed(door: Door, name: string): Role | undefined {
  return rightsOf(door).roles.find((each) => each.name === name);
}

/** A role that this release does not know has no actions. */
export function actionsOf(door: Door, role: string): readonly Action[] {
  return roleNamed(door, role)?.actions ?? [];
}

/** At a suspended merchant money may only move to buyers, and staff may write notes about it. */
const whileSuspended: readonly Action[] = ["payments.refund", "payments.cancel", "payments.note", "disputes.answer"];

/** A role's actions at a merchant of this status. Without the active status they are mostly reads. */
export function heldActions(role: string, merchantStatus: string): readonly Action[] {
  const actions = actionsOf("merchants", role);
  if (merchantStatus === "active") return actions;
  return actions.filter(
    (action) =>
      action.endsWith(".read") ||
      action === "payments.export" ||
      (merchantStatus === "suspended" && whileSuspended.includes(action)),
  );
}

/** Whether a member with the role `giver` may grant and remove the role `target`. */
export function mayGive(door: Door, giver: string, target: string): boolean {
  const { roles } = rightsOf(door);
  const [above, below] = [giver, target].map((name) => roles.findIndex((each) => each.name === name));
  if (above === undefined || below === undefined || above < 0 || below < 0) return false;
  const isOwners = roles[below]?.isOwner === true;
  return isOwners ? roles[above]?.isOwner === true : above <= below;
}
