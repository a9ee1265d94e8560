// Seals the data from which a lost session or key is rebuilt into the event of its creation. The image opens for its
// own object only.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { IdempotencyScope } from "#platform/database/idempotency.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import type { CreateSessionResponse } from "#proto/checkout/v1/checkout_pb.ts";
import { type SessionImage, SessionImageSchema } from "#proto/checkout/v1/recovery_pb.ts";

// Events are limited to 64 KiB. A session with 50 long metadata values has no image.
const imageMaxBytes = 40 * 1_024;

/** Builds the event attribute. */
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

/** @throws for another object, a changed image or a removed key */
export function openImage(vault: Vault, objectId: string, sealed: string): SessionImage {
  const image = fromBinary(SessionImageSchema, vault.decrypt(Buffer.from(sealed, "base64"), imageContext(objectId)));
  const { session } = image.response ?? {};
  if (session && session.id !== objectId) throw new Error("the image of another session");
  return image;
}

function imageContext(objectId: string): string {
  return `session-image:${objectId}`;
}
