// Takes every way in from a member whose own are lost or stolen, in ONE transaction. They and their roles stay: an
// invitation of the same address lets them in again. An operator does it by command; no session of a console can.
import { Failure } from "#platform/values/failure.ts";
import type { MerchantContext } from "../../context.ts";
import { deleteAuthenticator } from "../../store/people/authenticators.ts";
import { deleteSessionsOf } from "../../store/people/console-sessions.ts";
import { findMembership } from "../../store/people/memberships.ts";
import { deletePasskeysOf } from "../../store/people/passkeys.ts";
import { lockPerson } from "../../store/people/persons.ts";
import { deleteLinksOf } from "../../store/sign-in/provider-links.ts";
import { manageTeam, type TeamScope } from "./manage-people.ts";
import { memberEvent } from "./people-events.ts";

/** @throws Failure NOT_FOUND: no member there; UNAUTHORIZED: no operator's command */
export async function resetAccess(context: MerchantContext, scope: TeamScope, personId: string): Promise<void> {
  await manageTeam(context, scope, "team.write", async (tx) => {
    // As whoever adds or removes a way in does.
    const person = await lockPerson(tx.em, personId);
    if (!person || !(await findMembership(tx.em, personId, scope.merchantId))) throw new Failure("NOT_FOUND");
    await deletePasskeysOf(tx.em, personId);
    await deleteAuthenticator(tx.em, personId);
    await deleteLinksOf(tx, personId);
    await deleteSessionsOf(tx.em, personId);
    await context.outbox.append(tx, [memberEvent("member.access_reset", scope.merchantId, personId, {})]);
  });
  context.outbox.wake();
}
