// Verifies passkeys (WebAuthn level 3) for a console: its origin and host, the challenge, and user verification.
// It uses neither the database nor the network.
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import { decodeAttestationObject } from "@simplewebauthn/server/helpers";
import type { OpenDoor } from "../rules/people/door.ts";
import { challengeMs } from "../rules/people/session.ts";
import type { Passkey } from "../store/people/passkeys.ts";

/** EdDSA, ES256 and RS256, the algorithms of browsers. */
const algorithms = [-8, -7, -257];

/** The message is for logs only, never for the caller. */
export class PasskeyRefused extends Error {
  override name = "PasskeyRefused";
}

interface PasskeyOwner {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** Options for the browser to create a passkey, as JSON with the challenge. */
export async function registrationOptions(
  { rpId }: OpenDoor,
  owner: PasskeyOwner,
  known: readonly Pick<Passkey, "credentialId" | "transports">[],
): Promise<{ challenge: string; json: string }> {
  const options = await generateRegistrationOptions({
    rpName: "Tollbooth",
    rpID: rpId,
    userName: owner.email,
    userDisplayName: owner.name,
    userID: new Uint8Array(Buffer.from(owner.id)),
    timeout: challengeMs,
    attestationType: "none",
    excludeCredentials: known.map(descriptorOf),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    supportedAlgorithmIDs: algorithms,
  });
  return { challenge: options.challenge, json: JSON.stringify(options) };
}

/** Options for the browser to sign. @param known a person's passkeys; empty allows any passkey of the browser */
export async function assertionOptions(
  { rpId }: OpenDoor,
  known: readonly Pick<Passkey, "credentialId" | "transports">[] = [],
): Promise<{ challenge: string; json: string }> {
  const options = await generateAuthenticationOptions({
    rpID: rpId,
    timeout: challengeMs,
    userVerification: "required",
    allowCredentials: known.map(descriptorOf),
  });
  return { challenge: options.challenge, json: JSON.stringify(options) };
}

/** @throws PasskeyRefused */
export async function verifyNewPasskey(
  { origin, rpId }: OpenDoor,
  challenge: string,
  answer: RegistrationResponseJSON,
): Promise<Pick<Passkey, "credentialId" | "publicKey" | "counter" | "transports">> {
  const verified = await rejectAsPasskeyRefused(async () => {
    assertNoAttestation(answer);
    return await verifyRegistrationResponse({
      response: answer,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
  });
  if (!verified.verified) throw new PasskeyRefused("the new passkey's signature is wrong");
  const { id, publicKey, counter } = verified.registrationInfo.credential;
  if (id !== answer.id) throw new PasskeyRefused("the new passkey's id differs from its response's id");
  return {
    credentialId: Buffer.from(id, "base64url"),
    publicKey: Buffer.from(publicKey),
    counter,
    transports: answer.response.transports ?? [],
  };
}

/** @returns the passkey's new counter @throws PasskeyRefused */
export async function verifyAssertion(
  { origin, rpId }: OpenDoor,
  challenge: string,
  answer: AuthenticationResponseJSON,
  passkey: Passkey,
): Promise<number> {
  const { userHandle } = answer.response;
  if (userHandle !== undefined && Buffer.from(userHandle, "base64url").toString() !== passkey.personId) {
    throw new PasskeyRefused("the passkey belongs to another person");
  }
  const verified = await rejectAsPasskeyRefused(() =>
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      credential: { id: answer.id, publicKey: new Uint8Array(passkey.publicKey), counter: passkey.counter },
      requireUserVerification: true,
    }),
  );
  if (!verified.verified) throw new PasskeyRefused("the passkey's signature is wrong");
  return verified.authenticationInfo.newCounter;
}

/**
 * We request no attestation. The library would check an unrequested certificate's revocation list over the network, at
 * a URL from that certificate.
 */
function assertNoAttestation({ response }: RegistrationResponseJSON): void {
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(response.attestationObject, "base64url")));
  const isSelfSigned = attestation.get("fmt") === "packed" && attestation.get("attStmt").get("x5c") === undefined;
  if (attestation.get("fmt") !== "none" && !isSelfSigned) throw new Error("attestation with a certificate");
}

async function rejectAsPasskeyRefused<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    throw new PasskeyRefused(error instanceof Error ? error.message : "unreadable response", { cause: error });
  }
}

function descriptorOf({ credentialId, transports }: Pick<Passkey, "credentialId" | "transports">) {
  return { id: Buffer.from(credentialId).toString("base64url"), transports };
}
