// Verifies passkeys (WebAuthn level 3) for a door: its origin and host, the challenge that was given, and that the
// authenticator made sure of its user. Nothing here reads or writes a row, and nothing goes over the network.
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

/** EdDSA, ES256 and RS256: what browsers have. */
const algorithms = [-8, -7, -257];

/** Why it proves nothing, for logs; never for whoever sent it. */
export class PasskeyRefused extends Error {
  override name = "PasskeyRefused";
}

export interface PasskeyOwner {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** What the browser makes a passkey by, as JSON, with the challenge in it. */
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

/** What the browser signs by. @param known of one person; empty: whichever the browser has */
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

/** The new passkey. @throws PasskeyRefused */
export async function verifyNewPasskey(
  { origin, rpId }: OpenDoor,
  challenge: string,
  answer: RegistrationResponseJSON,
): Promise<Pick<Passkey, "credentialId" | "publicKey" | "counter" | "transports">> {
  const verified = await unlessRefused(async () => {
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
  if (id !== answer.id) throw new PasskeyRefused("the new passkey has another id than its answer says");
  return {
    credentialId: Buffer.from(id, "base64url"),
    publicKey: Buffer.from(publicKey),
    counter,
    transports: answer.response.transports ?? [],
  };
}

/** How often the passkey has signed now. @throws PasskeyRefused */
export async function verifyAssertion(
  { origin, rpId }: OpenDoor,
  challenge: string,
  answer: AuthenticationResponseJSON,
  passkey: Passkey,
): Promise<number> {
  const { userHandle } = answer.response;
  if (userHandle !== undefined && Buffer.from(userHandle, "base64url").toString() !== passkey.personId) {
    throw new PasskeyRefused("the passkey says to be another person's");
  }
  const verified = await unlessRefused(() =>
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
 * Nobody asked who made the authenticator. A certificate that is sent all the same would be looked up at an address
 * that it names itself.
 */
function assertNoAttestation({ response }: RegistrationResponseJSON): void {
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(response.attestationObject, "base64url")));
  const isSelfSigned = attestation.get("fmt") === "packed" && attestation.get("attStmt").get("x5c") === undefined;
  if (attestation.get("fmt") !== "none" && !isSelfSigned) throw new Error("it comes with a certificate");
}

async function unlessRefused<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    throw new PasskeyRefused(error instanceof Error ? error.message : "it cannot be read", { cause: error });
  }
}

function descriptorOf({ credentialId, transports }: Pick<Passkey, "credentialId" | "transports">) {
  return { id: Buffer.from(credentialId).toString("base64url"), transports };
}
