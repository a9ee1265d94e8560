// Queues security mails about a person's own access in the transaction of its change. They cannot be turned off.
import { createHash } from "node:crypto";
import type { MappedTx } from "#platform/database/mapped-database.ts";
import { clockNow } from "#platform/values/clock.ts";
import type { MerchantContext } from "../../context.ts";
import { mailTexts, queueMail } from "../../mail/queue-mail.ts";
import type { Door } from "../../rules/people/door.ts";
import type { SessionRow } from "../../store/people/console-sessions.ts";
import { findPersons } from "../../store/people/persons.ts";
import { recordBrowser } from "../../store/sign-in/known-browsers.ts";

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
