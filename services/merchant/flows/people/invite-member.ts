// Invites an address to a merchant, or to the installation: ONE transaction under the lock of the place. The link's
// token is in the answer only; what is stored is its keyed hash. Inviting an address again ends its former link.
import type { MappedTx } from "#platform/database/mapped-database.ts";
import { randomToken } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalid } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../../context.ts";
import { brandOf } from "../../mail/brand.ts";
import { mailTexts } from "../../mail/mail-texts.ts";
import { ownBrand, queueMail } from "../../mail/queue-mail.ts";
import { type Door, doorOfScope, type OpenDoor } from "../../rules/people/door.ts";
import { emailViolations, isPlainName, languageOf, normalEmail } from "../../rules/people/person.ts";
import { type Role, roleNamed } from "../../rules/people/roles.ts";
import { invitationMailsMax, invitationMailsMs, invitationMs } from "../../rules/people/session.ts";
import { countInvitationMails, withdrawMails } from "../../store/mails.ts";
import { findMerchant } from "../../store/merchants.ts";
import { type Invitation, listInvitations, putInvitation } from "../../store/people/invitations.ts";
import { findMembership } from "../../store/people/memberships.ts";
import { findPersonByEmail, findPersons } from "../../store/people/persons.ts";
import { hasSignInMethod } from "../../store/people/sign-in-methods.ts";
import { openDoor } from "../sign-in/session.ts";
import { type Manager, manageTeam, type TeamScope } from "./manage-people.ts";
import { memberEvent } from "./people-events.ts";

export interface RefundLimit {
  readonly amount: bigint;
  readonly currency: string;
}

export interface WantedMember {
  readonly email: string;
  readonly role: string;
  readonly refundLimit: RefundLimit | undefined;
  /** Of the mail. */
  readonly language: string;
}

/** An invitation with its link, which nobody can read again. */
export interface IssuedInvitation {
  readonly invitation: Invitation;
  /** Empty: an operator by command. */
  readonly inviterName: string;
  /** Empty: it went by mail, and nobody but its reader is to have it. */
  readonly link: string;
  readonly isMailed: boolean;
}

/** No team is larger; each is an open door. */
export const openInvitationsMax = 200;
const tokenForm = /^[A-Za-z0-9_-]{43}$/;

/** The hashes that an invitation with this token may be stored under. */
export function tokenHashes({ hashKeys }: Pick<MerchantContext, "hashKeys">, token: string): Buffer[] {
  return tokenForm.test(token) ? hashKeys.hashes(hashed(token)) : [];
}

const hashed = (token: string) => `console-invitation:${token}`;

/** @throws Failure INVALID_BODY, FORBIDDEN, NOT_FOUND, UNAUTHORIZED, FEATURE_DISABLED */
export async function inviteMember(
  context: MerchantContext,
  scope: TeamScope,
  wanted: WantedMember,
): Promise<IssuedInvitation> {
  const open = openDoor(context, scope.door);
  const email = normalEmail(wanted.email);
  const violations = emailViolations(email);
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const role = readRole(scope.door, wanted);
  const issued = await manageTeam(context, scope, "team.write", async (tx, manager) => {
    if (!manager.mayGive(role.name)) throw new Failure("FORBIDDEN");
    await assertInvitable(context, tx, { merchantId: scope.merchantId, email, manager });
    if (manager.personId !== undefined) await assertFewMails(tx, scope.merchantId);
    return await addInvitation(context, tx, { ...wanted, merchantId: scope.merchantId, email, manager });
  });
  context.outbox.wake();
  context.mails.now();
  const { invitation, token, isMailed } = issued;
  const link = invitation.byMailOnly ? "" : invitationLink(open, token);
  const [inviter] = invitation.inviterId ? await findPersons(context.db.em(), [invitation.inviterId]) : [];
  return { invitation, inviterName: inviter?.name ?? "", isMailed, link };
}

/** The writes of it, within the caller's transaction; the caller wakes the outbox after the commit. */
export async function addInvitation(
  context: MerchantContext,
  tx: MappedTx,
  wanted: WantedMember & { readonly merchantId: string; readonly manager: Pick<Manager, "personId"> },
): Promise<{ invitation: Invitation; token: string; isMailed: boolean }> {
  const { hashKeys, outbox } = context;
  const { merchantId, email, role, refundLimit, manager } = wanted;
  const token = randomToken(32);
  const now = clockNow();
  const invitation: Invitation = {
    id: newId("invitation"),
    merchantId,
    email,
    role,
    refundAmount: refundLimit?.amount ?? null,
    refundCurrency: refundLimit?.currency ?? null,
    inviterId: manager.personId ?? null,
    byMailOnly: isByMailOnly(context, manager),
    createdAt: now,
    expiresAt: new Date(now.getTime() + invitationMs),
  };
  await putInvitation(tx.em, invitation, hashKeys.hash(hashed(token)));
  await outbox.append(tx, [memberEvent("member.invited", merchantId, invitation.id, { email, role })]);
  const isMailed = await mailInvitation(context, tx, invitation, { token, language: wanted.language });
  return { invitation, token, isMailed };
}

/** A colleague who could read the link could come in as the person they invite. */
function isByMailOnly({ canMail }: MerchantContext, { personId }: Pick<Manager, "personId">): boolean {
  return canMail && personId !== undefined;
}

function invitationLink({ origin }: OpenDoor, token: string): string {
  return `${origin}/invitations/${token}`;
}

async function mailInvitation(
  context: MerchantContext,
  tx: MappedTx,
  { id, merchantId, email, role, inviterId, expiresAt }: Invitation,
  { token, language }: { readonly token: string; readonly language: string },
): Promise<boolean> {
  const open = context.doors.get(doorOfScope(merchantId));
  if (!context.canMail || !open) return false;
  const merchant = merchantId === "" ? null : await findMerchant(tx.em, merchantId);
  const [inviter] = inviterId ? await findPersons(tx.em, [inviterId]) : [];
  const plain = (name: string, otherwise: string) => (isPlainName(name) ? name : otherwise);
  const inviterName = plain(inviter?.name ?? "", inviter?.email ?? "");
  const facts = { merchantName: plain(merchant?.name ?? "", merchantId), role, inviterName };
  const content = mailTexts(languageOf(language)).invitation({ ...facts, link: invitationLink(open, token) });
  const brand = merchant ? await brandOf(tx, merchantId, Environment.LIVE) : ownBrand;
  await withdrawMails(tx, "invitation", id);
  return await queueMail(context, tx, {
    to: email,
    kind: "invitation",
    content,
    brand: { ...brand, name: plain(brand.name, merchantId) },
    merchantId,
    objectId: id,
    giveUpAt: expiresAt,
  });
}

/** The role of the door, with a limit only where it takes one. @throws Failure INVALID_BODY */
export function readRole(door: Door, wanted: Pick<WantedMember, "role" | "refundLimit">): Role {
  const role = roleNamed(door, wanted.role);
  if (!role) throw invalid("role", "is none of this console");
  if (wanted.refundLimit && !role.takesRefundLimit) throw invalid("refund_limit", "is none of this role");
  return role;
}

/** An operator by command is not counted: whoever has the commands needs no mail of ours. */
async function assertFewMails(tx: MappedTx, merchantId: string): Promise<void> {
  const since = new Date(clockNow().getTime() - invitationMailsMs);
  if ((await countInvitationMails(tx, merchantId, since)) >= invitationMailsMax)
    throw invalid("invitations", `are more than ${invitationMailsMax} within a day`);
}

/**
 * A member who cannot sign in yet may be invited again, because their link may be lost. The new link ends the former
 * one, so the inviter must be one who could take that back.
 */
async function assertInvitable(
  context: MerchantContext,
  tx: MappedTx,
  { merchantId, email, manager }: { merchantId: string; email: string; manager: Manager },
): Promise<void> {
  const person = await findPersonByEmail(tx.em, email);
  const member = person && (await findMembership(tx.em, person.id, merchantId));
  if (member && (await hasSignInMethod(tx, person.id))) throw invalid("email", "is a member already");
  if (member && !isByMailOnly(context, manager) && !manager.mayGive(member.role)) throw new Failure("FORBIDDEN");
  const open = await listInvitations(tx.em, merchantId, openInvitationsMax + 1);
  const former = open.find((invitation) => invitation.email === email);
  if (former && !manager.mayGive(former.role)) throw new Failure("FORBIDDEN");
  const others = open.filter((invitation) => invitation.email !== email);
  if (others.length >= openInvitationsMax) throw invalid("email", "would be one open invitation too many");
}
