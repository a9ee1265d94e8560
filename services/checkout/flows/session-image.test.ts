import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { Vault } from "#platform/secrets/vault.ts";
import { newId } from "#platform/values/id.ts";
import { CreateSessionResponseSchema } from "#proto/checkout/v1/checkout_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { suite } from "../../../test/harness/suite.ts";
import { imageOf, openImage } from "./session-image.ts";

const test = suite("session image");
const vault = new Vault(new Map([["k1", randomBytes(32)]]));
const id = newId("session");
const answered = (metadata: Record<string, string> = {}) =>
  create(CreateSessionResponseSchema, { session: { id, metadata }, sessionSecret: "cs_secret_of_the_buyer" });
const scope = {
  merchantId: "mer_1",
  environment: Environment.SANDBOX,
  operation: "create_session",
  key: "key-1",
  fingerprint: new Uint8Array(32).fill(7),
};

test("restores the answer, the key and its fingerprint from an image", () => {
  const { response, key, fingerprint } = openImage(vault, id, imageOf(vault, id, answered(), scope).image ?? "");
  assert.equal(response?.sessionSecret, "cs_secret_of_the_buyer");
  assert.deepEqual([key, [...fingerprint]], ["key-1", [...scope.fingerprint]]);
  assert.equal(openImage(vault, id, imageOf(vault, id, answered(), undefined).image ?? "").key, "");
});

test("hides the content of an image and opens it only for its session and key", () => {
  const image = imageOf(vault, id, answered(), scope).image ?? "";
  const plain = Buffer.from(image, "base64").toString("latin1");
  for (const secret of ["cs_secret", "key-1", id]) assert.ok(!plain.includes(secret), secret);
  assert.throws(() => openImage(vault, newId("session"), image));
  assert.throws(() => openImage(new Vault(new Map([["k1", randomBytes(32)]])), id, image));
  const other = imageOf(vault, id, create(CreateSessionResponseSchema, { session: { id: newId("session") } }), scope);
  assert.throws(() => openImage(vault, id, other.image ?? ""), /of another session/);
});

test("omits the image of a session that is too large for an event", () => {
  const values = (n: number, length: number) =>
    Object.fromEntries(Array.from({ length: n }, (_, i) => [`key_${i}`, "\u{1f4b6}".repeat(length)]));
  assert.equal(imageOf(vault, id, answered(values(50, 500)), scope).image, undefined);
  const { image = "" } = imageOf(vault, id, answered(values(20, 490)), scope);
  assert.ok(image.length > 50_000 && image.length < 60_000, String(image.length));
});

test.run();
