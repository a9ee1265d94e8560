// What a lost session, or a payment's lost key, is made from, sealed so that it can travel with the event of its
// creation: whoever reads events learns nothing, and it opens for its own object alone.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { IdempotencyScope } from "#platform/database/idempotency.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import type { CreateSessionResponse } from "#proto/checkout/v1/checkout_pb.ts";
import { type SessionImage, SessionImageSchema } from "#proto/checkout/v1/recovery_pb.ts";

// An event has 64 KiB at most; a session near that has a metadata of 50 long values, and goes without.
const imageMaxBytes = 40 * 1_024;

/** The attributes that bring it. */
export function imageOf(
  vault: Vault,
  objectId: string,
  response: CreateSessionResponse | undefined,
  scope: IdempotencyScope | undefined,
): { readonly image?: string } {
  const image = create(SessionImageSchema, {
    response,
    ...(scope && { key: scope.key, fingerprint: scope.fingerprint }),
  });
  const bytes = toBinary(SessionImageSchema, image);
  if (bytes.length > imageMaxBytes) return {};
  return { image: vault.encrypt(bytes, imageContext(objectId)).toString("base64") };
}

/** @throws when it is of another object, was changed, or its key is gone */
export function openImage(vault: Vault, objectId: string, sealed: string): SessionImage {
  const image = fromBinary(SessionImageSchema, vault.decrypt(Buffer.from(sealed, "base64"), imageContext(objectId)));
  const { session } = image.response ?? {};
  if (session && session.id !== objectId) throw new Error("the image of another session");
  return image;
}

function imageContext(objectId: string): string {
  return `session-image:${objectId}`;
}
