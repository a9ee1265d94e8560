// What follows when somebody has shown that an address is theirs, within the caller's transaction: whoever made its
// person before may have known a link only, so that what they made for signing in ends.
import type { MappedTx } from "#platform/database/mapped-database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { deleteAuthenticator } from "../../store/people/authenticators.ts";
import { deleteSessionsOf } from "../../store/people/console-sessions.ts";
import { deletePasskeysOf } from "../../store/people/passkeys.ts";
import type { Person } from "../../store/people/persons.ts";

/** @param person locked by the caller */
export async function proveAddress(tx: MappedTx, person: Person): Promise<void> {
  if (person.emailProvedAt) return;
  await deletePasskeysOf(tx.em, person.id);
  await deleteAuthenticator(tx.em, person.id);
  await deleteSessionsOf(tx.em, person.id);
  person.emailProvedAt = clockNow();
}
