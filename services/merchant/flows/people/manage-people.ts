// Who manages the people of a merchant or of the installation: an operator by command, who may do all; a person with
// the right in that place; or one at the operators' door who may change merchants. To be asked under the lock of the
// place, so that the right still holds at the commit.
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { MappedTx } from "#platform/database/mapped-database.ts";
import { callContext } from "#platform/values/call-context.ts";
import { Failure, invalid } from "#platform/values/failure.ts";
import type { MerchantContext } from "../../context.ts";
import { type Door, doorOfScope } from "../../rules/people/door.ts";
import { type Action, actionsOf, heldActions, mayGive } from "../../rules/people/roles.ts";
import { findMerchant } from "../../store/merchants.ts";
import type { SessionRow } from "../../store/people/console-sessions.ts";
import type { Invitation } from "../../store/people/invitations.ts";
import { findMembership, lockScope } from "../../store/people/memberships.ts";
import { assertProved, findFullSession } from "../sign-in/session.ts";
import { asPerson } from "./people-events.ts";

/** Whose people, and by whose wish. */
export interface TeamScope {
  /** Empty: an operator by command. */
  readonly sessionSecret: string;
  readonly door: Door;
  /** Empty: the installation. */
  readonly merchantId: string;
}

export interface Manager {
  /** Undefined: an operator by command. */
  readonly personId: string | undefined;
  mayGive(role: string): boolean;
}

/**
 * Runs the work in a transaction under the lock of the place, as the manager's own.
 * @throws Failure UNAUTHORIZED, NOT_FOUND (no such place for this person), FORBIDDEN (no right, or no proof)
 */
export async function manageTeam<T>(
  context: MerchantContext,
  scope: TeamScope,
  action: "team.read" | "team.write",
  work: (tx: MappedTx, manager: Manager) => Promise<T>,
): Promise<T> {
  assertScope(scope);
  const session = await sessionOf(context, scope);
  const managed = () =>
    context.db.transaction(async (tx) => {
      await lockScope(tx, scope.merchantId);
      return await work(tx, await admit(tx.em, scope, session, action));
    });
  return session ? await asPerson(session.person.id, managed) : await managed();
}

/**
 * Reads for whoever may look there.
 * @param action undefined: every member may
 * @throws Failure UNAUTHORIZED, NOT_FOUND, FORBIDDEN
 */
export async function readTeam<T>(
  context: MerchantContext,
  scope: TeamScope,
  action: "team.read" | undefined,
  read: (em: SqlEntityManager) => Promise<T>,
): Promise<T> {
  assertScope(scope);
  const session = await sessionOf(context, scope);
  const em = context.db.em();
  await admit(em, scope, session, action);
  return await read(em);
}

async function admit(
  em: SqlEntityManager,
  { door, merchantId }: TeamScope,
  session: SessionRow | undefined,
  action: "team.read" | "team.write" | undefined,
): Promise<Manager> {
  const merchant = merchantId === "" ? undefined : await findMerchant(em, merchantId);
  if (merchant === null) throw new Failure("NOT_FOUND");
  if (!session) return { personId: undefined, mayGive: () => true };
  const isFromAbove = session.door === "operators" && door === "merchants";
  const own = await findMembership(em, session.person.id, isFromAbove ? "" : merchantId);
  if (!own) throw new Failure("NOT_FOUND");
  const needed: Action | undefined = isFromAbove
    ? action === "team.write"
      ? "merchants.write"
      : "merchants.read"
    : action;
  const isOperators = isFromAbove || !merchant;
  const held = isOperators ? actionsOf("operators", own.role) : heldActions(own.role, merchant.status);
  if (needed && !held.includes(needed)) throw new Failure("FORBIDDEN");
  if (action === "team.write") assertProved(session);
  return { personId: own.personId, mayGive: (role) => isFromAbove || mayGive(door, own.role, role) };
}

/** True while the inviter may give the role there, which nobody but an operator may at a suspended merchant. */
export async function inviterMayGive(
  em: SqlEntityManager,
  { inviterId, merchantId }: Pick<Invitation, "inviterId" | "merchantId">,
  role: string,
): Promise<boolean> {
  if (inviterId == null) return true;
  const above = actionsOf("operators", (await findMembership(em, inviterId, ""))?.role ?? "");
  if (merchantId !== "" && above.includes("merchants.write")) return true;
  const own = (await findMembership(em, inviterId, merchantId))?.role ?? "";
  const held = merchantId === "" ? above : heldActions(own, (await findMerchant(em, merchantId))?.status ?? "closed");
  return held.includes("team.write") && mayGive(doorOfScope(merchantId), own, role);
}

/** @throws Failure UNAUTHORIZED: no session, and no operator either; or one of the other door */
async function sessionOf(
  context: MerchantContext,
  { sessionSecret, door }: TeamScope,
): Promise<SessionRow | undefined> {
  if (sessionSecret === "") {
    if (callContext.getStore()?.byOperator !== true) throw new Failure("UNAUTHORIZED");
    return undefined;
  }
  const session = await findFullSession(context, sessionSecret);
  if (session.door === "merchants" && door === "operators") throw new Failure("UNAUTHORIZED");
  return session;
}

function assertScope({ door, merchantId }: TeamScope): void {
  if (doorOfScope(merchantId) !== door) {
    throw invalid("merchant_id", door === "merchants" ? "is required" : "must be empty for the installation");
  }
}
