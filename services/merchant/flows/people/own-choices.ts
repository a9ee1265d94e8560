// A person's own choices at a merchant: notifications and saved views.
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import type { MerchantContext } from "../../context.ts";
import { readUnsubscribeToken } from "../../mail/unsubscribe.ts";
import { isChosen, isKind, kindsFor, type NotificationKind } from "../../rules/people/notifications.ts";
import { withdrawMailsOf } from "../../store/mails.ts";
import type { MappedTx } from "../../store/mapped-database.ts";
import { findMerchant } from "../../store/merchants.ts";
import { findMembership, type Membership } from "../../store/people/memberships.ts";
import { choicesOf, putChoices } from "../../store/people/notification-choices.ts";
import { lockPerson } from "../../store/people/persons.ts";
import { deleteView, putView, type SavedView, viewsOf } from "../../store/people/saved-views.ts";
import { findFullSession } from "../sign-in/session.ts";

interface OwnScope {
  readonly sessionSecret: string;
  readonly merchantId: string;
}

interface ChosenKind {
  readonly name: NotificationKind;
  readonly isOn: boolean;
}

const viewsMax = 30;

/** @throws Failure UNAUTHORIZED, FORBIDDEN, NOT_FOUND */
export async function readNotifications(context: MerchantContext, scope: OwnScope): Promise<ChosenKind[]> {
  const own = await ownMembership(context, scope);
  const choices = await choicesOf(context.db.em(), keyOf(own));
  return kindsFor(own.role).map((name) => ({ name, isOn: isChosen(choices, name) }));
}

/**
 * @param kinds the enabled ones; all others are disabled
 * @throws Failure UNAUTHORIZED, FORBIDDEN, NOT_FOUND, INVALID_BODY
 */
export async function chooseNotifications(
  context: MerchantContext,
  scope: OwnScope,
  kinds: readonly string[],
): Promise<ChosenKind[]> {
  const own = await ownMembership(context, scope);
  const possible = kindsFor(own.role);
  if (!kinds.every((kind) => isKind(kind) && possible.includes(kind)))
    throw invalidField("kinds", "must be kinds of this role");
  const chosen = possible.map((name) => ({ name, isOn: kinds.includes(name) }));
  await change(context, own, async (tx) => {
    await putChoices(tx.em, keyOf(own), new Map(chosen.map((c) => [c.name, c.isOn])));
    await withdrawMailsOf(tx, keyOf(own), kinds);
  });
  return chosen;
}

/** Disables one kind of mail by its unsubscribe link; repeating it changes nothing. @throws Failure NOT_FOUND */
export async function endNotification(
  context: MerchantContext,
  token: string,
): Promise<{ kind: NotificationKind; merchantName: string }> {
  const subscription = requireFound(readUnsubscribeToken(context.hashKeys, token));
  const { personId, merchantId, kind } = subscription;
  const own = await findMembership(context.db.em(), personId, merchantId);
  const merchant = await findMerchant(context.db.em(), merchantId);
  if (!own || !merchant) throw new Failure("NOT_FOUND");
  const kept = kindsFor(own.role).filter((each) => each !== kind);
  await change(context, own, async (tx) => {
    await putChoices(tx.em, keyOf(own), new Map([[kind, false]]));
    await withdrawMailsOf(tx, keyOf(own), kept);
  });
  return { kind, merchantName: merchant.name };
}

/** @param list empty for all lists @throws Failure UNAUTHORIZED, FORBIDDEN, NOT_FOUND */
export async function readViews(context: MerchantContext, scope: OwnScope, list: string): Promise<SavedView[]> {
  return await viewsOf(context.db.em(), keyOf(await ownMembership(context, scope)), list);
}

/** @throws Failure UNAUTHORIZED, FORBIDDEN, NOT_FOUND, INVALID_BODY (too many) */
export async function saveView(
  context: MerchantContext,
  scope: OwnScope,
  view: Pick<SavedView, "list" | "name" | "query">,
): Promise<void> {
  const own = await ownMembership(context, scope);
  await change(context, own, async (tx) => {
    const others = (await viewsOf(tx.em, keyOf(own))).filter((v) => !(v.list === view.list && v.name === view.name));
    if (others.length >= viewsMax) throw invalidField("view", `would exceed the limit of ${viewsMax} views`);
    const { list, name, query } = view;
    await putView(tx.em, { ...keyOf(own), list, name, query });
  });
}

/** Deleting a missing view is no error. @throws Failure UNAUTHORIZED, FORBIDDEN, NOT_FOUND */
export async function forgetView(
  context: MerchantContext,
  scope: OwnScope,
  view: Pick<SavedView, "list" | "name">,
): Promise<void> {
  const own = await ownMembership(context, scope);
  await change(context, own, (tx) => deleteView(tx.em, { ...keyOf(own), list: view.list, name: view.name }));
}

async function ownMembership(context: MerchantContext, { sessionSecret, merchantId }: OwnScope): Promise<Membership> {
  const { person } = await findFullSession(context, sessionSecret, "merchants");
  const own = requireFound(await findMembership(context.db.em(), person.id, merchantId));
  return own;
}

/** Runs a person's changes one at a time, so concurrent ones cannot exceed a limit. */
async function change(
  { db }: MerchantContext,
  { personId, merchantId }: Membership,
  work: (tx: MappedTx) => Promise<void>,
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockPerson(tx.em, personId);
    // The member may have been removed in between.
    if (!(await findMembership(tx.em, personId, merchantId))) throw new Failure("NOT_FOUND");
    await work(tx);
  });
}

function keyOf({ personId, merchantId }: Membership) {
  return { personId, merchantId };
}
