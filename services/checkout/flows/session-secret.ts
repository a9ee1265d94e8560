// The session secret and what it opens: made once, kept as a keyed hash, compared in constant time (CONTRACT.md §3). A wrong
// secret, an unknown id and no secret at all look the same.
import { fromBinary } from "@bufbuild/protobuf";
import { Failure } from "#platform/failure.ts";
import { type Id, idSuffix, isId } from "#platform/id.ts";
import { keyedHash, randomToken, sameSecret, type Vault } from "#platform/secret.ts";
import { type Render, RenderSchema } from "#proto/payments/v1/payments_pb.ts";
import { findSession, type StoredSession } from "../store/sessions.ts";
import type { CheckoutContext } from "./context.ts";

const secretBytes = 32; // 43 base64url characters

/** `cs_secret_<26 characters of the session's id>_<43 base64url characters>`. */
export function newSessionSecret(id: Id<"session">): string {
  return `cs_secret_${idSuffix(id)}_${randomToken(secretBytes)}`;
}

/** The session that the secret opens. @throws Failure NOT_FOUND. */
export async function openWithSecret(
  context: Pick<CheckoutContext, "db" | "hashKey">,
  sessionId: string,
  secret: string,
): Promise<StoredSession> {
  const session = isId("session", sessionId) ? await findSession(context.db, sessionId) : undefined;
  const hash = keyedHash(context.hashKey, secret);
  // Without a session the hash is compared with something it cannot be, so that both ways take the same steps.
  const same = sameSecret(hash, session?.secretHash ?? Buffer.alloc(hash.length));
  if (!session || !same) throw new Failure("NOT_FOUND");
  return session;
}

/** What the browser needs to pay holds the processor's secret for the intent: ciphertext at rest. */
export function sealRender(vault: Vault, id: Id<"session">, render: Uint8Array): Buffer {
  return vault.encrypt(render, `session:${id}`);
}

/** For the buyer's browser; undefined unless the session is open and its merchant has not ended it. */
export function renderOf(vault: Vault, session: StoredSession): Render | undefined {
  return session.state.status === "open" && !session.expiryAsked ? openedRender(vault, session) : undefined;
}

/** Also of a session that is being paid; undefined once it has ended. */
export function openedRender(vault: Vault, session: StoredSession): Render | undefined {
  if (!session.render) return undefined;
  return fromBinary(RenderSchema, vault.decrypt(session.render, `session:${session.id}`));
}
