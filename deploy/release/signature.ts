// Signs SHA256SUMS with an ECDSA or Ed25519 key in PEM form. The signature is plain, so `openssl dgst -sha256 -verify`
// (ECDSA) and `openssl pkeyutl -verify -rawin` (Ed25519) check it, and a KMS can make it.
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { ConfigError } from "#platform/process/config.ts";

/** @throws ConfigError, which names the file and never quotes it */
export const readSigningKey = (file: string) => readKey(file, createPrivateKey, "an unencrypted private key");

/** @throws ConfigError */
export const readVerifyingKey = (file: string) => readKey(file, createPublicKey, "a public key");

export function signText(text: Buffer, key: KeyObject): Buffer {
  return sign(hashFor(key), text, key);
}

export function isSignedBy(key: KeyObject, text: Buffer, signature: Buffer): boolean {
  return verify(hashFor(key), text, key, signature);
}

function hashFor(key: KeyObject): "sha256" | null {
  return key.asymmetricKeyType === "ed25519" ? null : "sha256";
}

function readKey(file: string, parse: (text: Buffer) => KeyObject, kind: string): KeyObject {
  let key: KeyObject;
  try {
    key = parse(readFileSync(file));
  } catch {
    throw new ConfigError(`${file} cannot be read as ${kind} in PEM form`);
  }
  if (!["ec", "ed25519"].includes(key.asymmetricKeyType ?? ""))
    throw new ConfigError(`${file} is no ECDSA or Ed25519 key`);
  return key;
}
