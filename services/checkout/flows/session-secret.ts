// The session secret, stored as a keyed hash and compared in constant time (docs/contract.md §3), and the sealed
// render. A wrong secret, an unknown id and a missing secret look the same.
import { fromBinary } from "@bufbuild/protobuf";
import { type HashKeys, randomToken, sameSecret, type Vault } from "#platform/secrets/vault.ts";
import { Failure } from "#platform/values/failure.ts";
import { type Id, idSuffix, isId } from "#platform/values/id.ts";
import { type Render, RenderSchema } from "#proto/payments/v1/payments_pb.ts";
import type { CheckoutContext } from "../context.ts";
import { findSession, replaceSecretHash, type StoredSession } from "../store/sessions.ts";

const hashBytes = 32;
const secretBytes = 32; // 43 base64url characters

/** `cs_secret_<26 characters of the session's id>_<43 base64url characters>`. */
export function newSessionSecret(id: Id<"session">): string {
  return `cs_secret_${idSuffix(id)}_${randomToken(secretBytes)}`;
}

/**
 * Secrets of a session that was made from a payment link, of which a new session has the first. They are derived from
 * the id under each hash key, since everybody who opens a link for one payment gets the same session.
 */
export function linkSessionSecrets(hashKeys: HashKeys, id: Id<"session">): string[] {
  return hashKeys.hashes(`link:${id}`).map((hash) => `cs_secret_${idSuffix(id)}_${hash.toString("base64url")}`);
}

/** Finds the session by id and secret. @throws Failure NOT_FOUND */
export async function openWithSecret(
  context: Pick<CheckoutContext, "db" | "hashKeys" | "log">,
  sessionId: string,
  secret: string,
): Promise<StoredSession> {
  const session = isId("session", sessionId) ? await findSession(context.db, sessionId) : undefined;
  // An unknown session takes the same steps, with a hash that cannot match.
  const stored = session?.secretHash.hash ?? Buffer.alloc(hashBytes);
  const matches = context.hashKeys.hashes(secret).map((hash) => sameSecret(hash, stored));
  if (!session || !matches.includes(true)) throw new Failure("NOT_FOUND");
  if (session.secretHash.keyId !== context.hashKeys.currentId) await rehashSecret(context, session, secret);
  return session;
}

/** Replaces a hash under an older key. A failure does not stop the buyer; the next opening tries again. */
async function rehashSecret(
  { db, hashKeys, log }: Pick<CheckoutContext, "db" | "hashKeys" | "log">,
  { id, secretHash }: StoredSession,
  secret: string,
): Promise<void> {
  await replaceSecretHash(db, id, secretHash, hashKeys.hash(secret)).catch((error: unknown) =>
    log.warn({ err: error, session_id: id }, "session secret not rehashed; retrying at the next opening"),
  );
}

/** Encrypts the render, which contains the processor's secret for the intent. */
export function sealRender(vault: Vault, id: Id<"session">, render: Uint8Array): Buffer {
  return vault.encrypt(render, `session:${id}`);
}

/** The render for the buyer's browser; undefined unless the session is open and not ended by its merchant. */
export function renderOf(vault: Vault, session: StoredSession): Render | undefined {
  return session.state.status === "open" && !session.expiryRequested ? openedRender(vault, session) : undefined;
}

/** The render of a live session; undefined once it has ended. */
export function openedRender(vault: Vault, session: StoredSession): Render | undefined {
  if (!session.render) return undefined;
  return fromBinary(RenderSchema, vault.decrypt(session.render, `session:${session.id}`));
}
