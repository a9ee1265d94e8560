// Checks a code of a person's authenticator app in the caller's transaction, under the app's lock. A wrong code must
// commit its failure count, so it returns a result instead of throwing.
import type { MappedTx } from "#platform/database/mapped-database.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { invalid } from "#platform/values/failure.ts";
import type { MerchantContext } from "../../context.ts";
import { judgeCode } from "../../rules/people/one-time-code.ts";
import { wrongCodesMax } from "../../rules/people/session.ts";
import { type Authenticator, lockAuthenticator } from "../../store/people/authenticators.ts";
import { deleteSession, recordWrongCode, type SessionRow } from "../../store/people/console-sessions.ts";
import { announceOwn } from "../people/people-events.ts";

export const wrongCode = () => invalid("code", "is wrong, or was used before");

export function sealFor(vault: Vault, personId: string, secret: Uint8Array): Buffer {
  return vault.encrypt(secret, contextOf(personId));
}

/** @param of `secret` for the active app, `pending` for the one in setup */
export async function checkCode(
  vault: Vault,
  tx: MappedTx,
  personId: string,
  code: string,
  of: "secret" | "pending",
): Promise<{ isRight: boolean; app: Authenticator | null }> {
  const app = await lockAuthenticator(tx.em, personId);
  const sealed = app?.[of];
  if (!app || !sealed) return { isRight: false, app };
  const state = of === "pending" ? { ...app, lastStep: 0n } : app;
  const { isRight, ...next } = judgeCode(vault.decrypt(sealed, contextOf(personId)), code, state, clockNow());
  tx.em.assign(app, of === "pending" && !isRight ? { ...next, lastStep: app.lastStep } : next);
  return { isRight, app };
}

/** The sixth wrong code ends the session: it is probably stolen. */
export async function countWrongCode(context: MerchantContext, tx: MappedTx, session: SessionRow): Promise<void> {
  if ((await recordWrongCode(tx, session.id)) <= wrongCodesMax) return;
  const { person, door } = session;
  if (await deleteSession(tx.em, session.id)) {
    await announceOwn(context, tx, { personId: person.id, door }, "session.ended", session.id, { why: "wrong codes" });
  }
}

function contextOf(personId: string): string {
  return `authenticator:${personId}`;
}
