// Queues a notification to each of a merchant's people whose role receives it and who did not opt out, in the caller's
// transaction. Each mail has a one-click unsubscribe link.

import { createHash } from "node:crypto";
import { clockNow } from "#platform/values/clock.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../../context.ts";
import type { MailBrand } from "../../mail/mail-content.ts";
import { brandOf, mailTexts, queueMail } from "../../mail/queue-mail.ts";
import { amountText } from "../../mail/receipt.ts";
import { unsubscribeToken } from "../../mail/unsubscribe.ts";
import type { Door } from "../../rules/people/door.ts";
import { isChosen, kindsFor, type NotificationKind } from "../../rules/people/notifications.ts";
import { roleNamed } from "../../rules/people/roles.ts";
import type { MappedTx } from "../../store/mapped-database.ts";
import { findMerchant, type Merchant } from "../../store/merchants.ts";
import type { PaidSum } from "../../store/paid-days.ts";
import type { SessionRow } from "../../store/people/console-sessions.ts";
import { membersOf } from "../../store/people/memberships.ts";
import { choicesOf } from "../../store/people/notification-choices.ts";
import { findPersons } from "../../store/people/persons.ts";
import { recordBrowser } from "../../store/sign-in/known-browsers.ts";

/** An event that people are notified of. */
interface Matter {
  readonly kind: NotificationKind;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly objectId: string;
  /** The object's name in the text, or sums of money, which are shown in the person's language. */
  readonly object: string | readonly PaidSum[];
  /** The due or expiry date. */
  readonly date?: Date | undefined;
  /** The console's path after merchant and environment. */
  readonly path: string;
  /** The acting person, who needs no mail. */
  readonly exceptPersonId?: string;
  /** Default: now. */
  readonly sendAt?: Date;
  readonly giveUpAt?: Date;
}

/** The caller wakes `mails` after the commit. */
export async function notifyPeople(context: MerchantContext, tx: MappedTx, matter: Matter): Promise<void> {
  const origin = context.doors.get("merchants")?.origin;
  const { kind, merchantId, environment, objectId } = matter;
  if (!context.canMail || origin === undefined) return;
  const merchant = await findMerchant(tx.em, merchantId);
  if (!merchant) return;
  const isSandbox = environment === Environment.SANDBOX;
  const date = matter.date?.toISOString().slice(0, 10) ?? "";
  const link = `${origin}/${merchantId}/${isSandbox ? "sandbox" : "live"}/${matter.path}`;
  const { object: named } = matter;
  let brand: MailBrand | undefined;
  for (const { id: personId, email, language, role } of await membersOf(tx, merchantId)) {
    if (personId === matter.exceptPersonId || !kindsFor(role).includes(kind)) continue;
    if (!isChosen(await choicesOf(tx.em, { personId, merchantId }), kind)) continue;
    const object = typeof named === "string" ? named : named.map((sum) => sumText(sum, language)).join(", ");
    const facts = { link, merchantName: merchant.name, isSandbox, object, date };
    const token = unsubscribeToken(context.hashKeys, { personId, merchantId, kind });
    await queueMail(context, tx, {
      to: email,
      personId,
      kind,
      content: mailTexts(language).matters[kind](facts),
      brand: (brand ??= await brandOf(tx, merchantId, environment)),
      merchantId,
      objectId,
      onceKey: `${kind}:${objectId}:${personId}`,
      unsubscribeUrl: `${origin}/unsubscribe/${token}`,
      ...(matter.sendAt && { sendAt: matter.sendAt }),
      ...(matter.giveUpAt && { giveUpAt: matter.giveUpAt }),
    });
  }
}

/** `€12.00`, or `€36.00 (3 ×)`. */
function sumText({ total, currency, count }: PaidSum, language: string): string {
  return `${amountText(BigInt(total), currency, language || "en")}${count === 1 ? "" : ` (${count} ×)`}`;
}

/** Notifies a merchant's owners of its new status. They cannot opt out. The caller wakes `mails` after the commit. */
export async function notifyOwners(
  context: MerchantContext,
  tx: MappedTx,
  { id: merchantId, name: merchantName, status }: Merchant,
  reason: string,
): Promise<void> {
  const origin = context.doors.get("merchants")?.origin;
  if (!context.canMail || origin === undefined || status === "pending") return;
  const facts = { link: `${origin}/${merchantId}/live/home`, merchantName, status, reason };
  for (const { id: personId, email, language, role } of await membersOf(tx, merchantId)) {
    if (!roleNamed("merchants", role)?.isOwner) continue;
    const content = mailTexts(language).standingChanged(facts);
    await queueMail(context, tx, { to: email, personId, kind: "standing_changed", content, merchantId });
  }
}

/** For a person who had another sign-in method before. */
export async function notifySignInMethodAdded(
  context: MerchantContext,
  tx: MappedTx,
  session: SessionRow,
): Promise<void> {
  const { person, door, address, agent } = session;
  const content = mailTexts(person.language).signInMethodAdded({ link: accountLink(context, door), address, agent });
  await queueMail(context, tx, { to: person.email, kind: "way_in_added", content, objectId: person.id });
}

/** Records the browser without its version numbers, and notifies the person of a new one. */
export async function notifyNewBrowser(
  context: MerchantContext,
  tx: MappedTx,
  begun: { readonly personId: string; readonly door: Door; readonly address: string; readonly agent: string },
): Promise<void> {
  const { personId, door, address, agent } = begun;
  const hash = createHash("sha256")
    .update(agent.replace(/[\d._]+/g, ""))
    .digest();
  if (!(await recordBrowser(tx, personId, hash, clockNow())) || !context.canMail) return;
  const [person] = await findPersons(tx.em, [personId]);
  if (!person) return;
  const content = mailTexts(person.language).newBrowser({ link: accountLink(context, door), address, agent });
  await queueMail(context, tx, { to: person.email, kind: "new_browser", content, objectId: personId });
}

function accountLink({ doors }: MerchantContext, door: Door): string {
  return `${doors.get(door)?.origin ?? ""}/account`;
}
