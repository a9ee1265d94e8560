// Invites an address to a merchant or the installation in ONE transaction under the team's lock. Only the response or
// the mail contains the link's token; the database stores its keyed hash. A new invitation ends the address's old link.
import { randomToken } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../../context.ts";
import { brandOf, mailTexts, ownBrand, queueMail } from "../../mail/queue-mail.ts";
import { type Door, doorOfScope, type OpenDoor } from "../../rules/people/door.ts";
import { emailViolations, isPlainName, languageOf, normalEmail } from "../../rules/people/person.ts";
import { type Role, roleNamed } from "../../rules/people/roles.ts";
import { invitationMailsMax, invitationMailsMs, invitationMs } from "../../rules/people/session.ts";
import { countInvitationMails, withdrawMails } from "../../store/mails.ts";
import type { MappedTx } from "../../store/mapped-database.ts";
import { findMerchant } from "../../store/merchants.ts";
import { type Invitation, listInvitations, putInvitation } from "../../store/people/invitations.ts";
import { findMembership } from "../../store/people/memberships.ts";
import { findPersonByEmail, findPersons, hasSignInMethod } from "../../store/people/persons.ts";
import { openDoor } from "../sign-in/session.ts";
import { type Manager, manageTeam, type TeamScope } from "./manage-people.ts";
import { memberEvent } from "./people-events.ts";

export interface RefundLimit {
  readonly amount: bigint;
  readonly currency: string;
  /** By currency. */
  readonly others: Readonly<Record<string, bigint>>;
}

interface InviteMemberInput {
  readonly email: string;
  readonly role: string;
  readonly refundLimit: RefundLimit | undefined;
  readonly language: string;
}

interface IssuedInvitation {
  readonly invitation: Invitation;
  /** Empty for an operator by command. */
  readonly inviterName: string;
  /** Empty if only the mail may contain it. */
  readonly link: string;
  readonly isMailed: boolean;
}

/** Larger than any team; each open invitation is a risk. */
export const openInvitationsMax = 200;
const tokenForm = /^[A-Za-z0-9_-]{43}$/;

/** The possible hashes of a token, one per hash key. */
export function tokenHashes({ hashKeys }: Pick<MerchantContext, "hashKeys">, token: string): Buffer[] {
  return tokenForm.test(token) ? hashKeys.hashes(hashInput(token)) : [];
}

const hashInput = (token: string) => `console-invitation:${token}`;

/** @throws Failure INVALID_BODY, FORBIDDEN, NOT_FOUND, UNAUTHORIZED, FEATURE_DISABLED */
export async function inviteMember(
  context: MerchantContext,
  scope: TeamScope,
  input: InviteMemberInput,
): Promise<IssuedInvitation> {
  const open = openDoor(context, scope.door);
  const email = normalEmail(input.email);
  const violations = emailViolations(email);
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const role = readRole(scope.door, input);
  const issued = await manageTeam(context, scope, "team.write", async (tx, manager) => {
    if (!manager.mayGive(role.name)) throw new Failure("FORBIDDEN");
    await assertInvitable(context, tx, { merchantId: scope.merchantId, email, manager });
    if (manager.personId !== undefined) await assertFewMails(tx, scope.merchantId);
    return await addInvitation(context, tx, { ...input, merchantId: scope.merchantId, email, manager });
  });
  context.outbox.wake();
  context.mails.now();
  const { invitation, token, isMailed } = issued;
  const link = invitation.byMailOnly ? "" : invitationLink(open, token);
  const [inviter] = invitation.inviterId ? await findPersons(context.db.em(), [invitation.inviterId]) : [];
  return { invitation, inviterName: inviter?.name ?? "", isMailed, link };
}

/** For the caller's transaction. The caller wakes the outbox after the commit. */
export async function addInvitation(
  context: MerchantContext,
  tx: MappedTx,
  input: InviteMemberInput & { readonly merchantId: string; readonly manager: Pick<Manager, "personId"> },
): Promise<{ invitation: Invitation; token: string; isMailed: boolean }> {
  const { hashKeys, outbox } = context;
  const { merchantId, email, role, refundLimit, manager } = input;
  const token = randomToken(32);
  const now = clockNow();
  const invitation: Invitation = {
    id: newId("invitation"),
    merchantId,
    email,
    role,
    ...limitColumns(refundLimit),
    inviterId: manager.personId ?? null,
    byMailOnly: isByMailOnly(context, manager),
    createdAt: now,
    expiresAt: new Date(now.getTime() + invitationMs),
  };
  await putInvitation(tx.em, invitation, hashKeys.hash(hashInput(token)));
  await outbox.append(tx, [memberEvent("member.invited", merchantId, invitation.id, { email, role })]);
  const isMailed = await mailInvitation(context, tx, invitation, { token, language: input.language });
  return { invitation, token, isMailed };
}

/** A colleague who could read the link could sign in as the invited person. */
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

export function limitColumns(limit: RefundLimit | undefined) {
  const others = Object.entries(limit?.others ?? {}).map(([currency, amount]) => [currency, Number(amount)] as const);
  return {
    refundAmount: limit?.amount ?? null,
    refundCurrency: limit?.currency ?? null,
    refundOthers: Object.fromEntries(others),
  };
}

/** @throws Failure INVALID_BODY */
export function readRole(door: Door, input: Pick<InviteMemberInput, "role" | "refundLimit">): Role {
  const role = roleNamed(door, input.role);
  if (!role) throw invalidField("role", "must be a role of this console");
  if (input.refundLimit && !role.takesRefundLimit) throw invalidField("refund_limit", "is not allowed for this role");
  return role;
}

/** The limit does not apply to an operator by command. */
async function assertFewMails(tx: MappedTx, merchantId: string): Promise<void> {
  const since = new Date(clockNow().getTime() - invitationMailsMs);
  if ((await countInvitationMails(tx, merchantId, since)) >= invitationMailsMax)
    throw invalidField("invitations", `are more than ${invitationMailsMax} within a day`);
}

/**
 * A member who cannot sign in yet may be invited again, since their link may be lost. The new link ends the old one, so
 * the inviter needs the right to revoke it.
 */
async function assertInvitable(
  context: MerchantContext,
  tx: MappedTx,
  { merchantId, email, manager }: { merchantId: string; email: string; manager: Manager },
): Promise<void> {
  const person = await findPersonByEmail(tx.em, email);
  const member = person && (await findMembership(tx.em, person.id, merchantId));
  if (member && (await hasSignInMethod(tx, person.id))) throw invalidField("email", "is a member already");
  if (member && !isByMailOnly(context, manager) && !manager.mayGive(member.role)) throw new Failure("FORBIDDEN");
  const open = await listInvitations(tx.em, merchantId, openInvitationsMax + 1);
  const former = open.find((invitation) => invitation.email === email);
  if (former && !manager.mayGive(former.role)) throw new Failure("FORBIDDEN");
  const others = open.filter((invitation) => invitation.email !== email);
  if (others.length >= openInvitationsMax) throw invalidField("email", "would exceed the limit of open invitations");
}
