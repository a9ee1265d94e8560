// Authorizes the management of a team: an operator by command, a member with the right, or a person of the operators'
// console who may change merchants. The check runs under the team's lock, so the right still holds at the commit.
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { callContext } from "#platform/values/call-context.ts";
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import type { MerchantContext } from "../../context.ts";
import { type Door, doorOfScope } from "../../rules/people/door.ts";
import { type Action, actionsOf, heldActions, mayGive } from "../../rules/people/roles.ts";
import type { MappedTx } from "../../store/mapped-database.ts";
import { findMerchant } from "../../store/merchants.ts";
import type { SessionRow } from "../../store/people/console-sessions.ts";
import type { Invitation } from "../../store/people/invitations.ts";
import { findMembership, lockScope } from "../../store/people/memberships.ts";
import { assertProved, findFullSession } from "../sign-in/session.ts";
import { asPerson } from "./people-events.ts";

/** The team and the acting session. */
export interface TeamScope {
  /** Empty for an operator by command. */
  readonly sessionSecret: string;
  readonly door: Door;
  /** Empty for the installation. */
  readonly merchantId: string;
}

export interface Manager {
  /** Undefined for an operator by command. */
  readonly personId: string | undefined;
  mayGive(role: string): boolean;
}

/**
 * Runs the work in a transaction under the team's lock. The manager is the actor of its announcements.
 * @throws Failure UNAUTHORIZED, NOT_FOUND (no team of this person), FORBIDDEN (no right, or no recent proof)
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
      return await work(tx, await authorize(tx.em, scope, session, action));
    });
  return session ? await asPerson(session.person.id, managed) : await managed();
}

/**
 * @param action the required right; undefined allows every member
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
  await authorize(em, scope, session, action);
  return await read(em);
}

async function authorize(
  em: SqlEntityManager,
  { door, merchantId }: TeamScope,
  session: SessionRow | undefined,
  action: "team.read" | "team.write" | undefined,
): Promise<Manager> {
  const merchant = merchantId === "" ? undefined : await findMerchant(em, merchantId);
  if (merchant === null) throw new Failure("NOT_FOUND");
  if (!session) return { personId: undefined, mayGive: () => true };
  const isByOperator = session.door === "operators" && door === "merchants";
  const own = requireFound(await findMembership(em, session.person.id, isByOperator ? "" : merchantId));
  const needed: Action | undefined = isByOperator
    ? action === "team.write"
      ? "merchants.write"
      : "merchants.read"
    : action;
  const held = isByOperator || !merchant ? actionsOf("operators", own.role) : heldActions(own.role, merchant.status);
  if (needed && !held.includes(needed)) throw new Failure("FORBIDDEN");
  if (action === "team.write") assertProved(session);
  return { personId: own.personId, mayGive: (role) => isByOperator || mayGive(door, own.role, role) };
}

/** Whether the inviter may still grant the role. At a suspended merchant only an operator may. */
export async function inviterMayGive(
  em: SqlEntityManager,
  { inviterId, merchantId }: Pick<Invitation, "inviterId" | "merchantId">,
  role: string,
): Promise<boolean> {
  if (inviterId == null) return true;
  const asOperator = actionsOf("operators", (await findMembership(em, inviterId, ""))?.role ?? "");
  if (merchantId !== "" && asOperator.includes("merchants.write")) return true;
  const own = (await findMembership(em, inviterId, merchantId))?.role ?? "";
  const held =
    merchantId === "" ? asOperator : heldActions(own, (await findMerchant(em, merchantId))?.status ?? "closed");
  return held.includes("team.write") && mayGive(doorOfScope(merchantId), own, role);
}

/** @throws Failure UNAUTHORIZED (neither session nor operator, or a session of the other console) */
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
    throw invalidField("merchant_id", door === "merchants" ? "is required" : "must be empty for the installation");
  }
}
