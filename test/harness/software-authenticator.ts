// A passkey authenticator in software (WebAuthn level 3, ES256): what a browser and its device answer, without either.
// A test turns its knobs to answer as a thief, a copy or another site would.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isoCBOR } from "@simplewebauthn/server/helpers";

const userPresent = 0x01;
const userVerified = 0x04;
const hasCredential = 0x40;

/** How this answer differs from an honest one. */
export interface Knobs {
  readonly origin?: string;
  readonly rpId?: string;
  /** False: without the user's touch or verification. */
  readonly isVerified?: boolean;
  /** The signature counter to claim. */
  readonly counter?: number;
  readonly userHandle?: string;
}

interface Options {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id?: string };
  readonly user?: { readonly id: string };
}

export class SoftwareAuthenticator {
  readonly #origin: string;
  readonly #key: KeyObject;
  readonly #cose: Buffer;
  readonly credentialId = randomBytes(32);
  #userHandle = "";
  counter = 0;

  /** @param origin where its browser is */
  constructor(origin: string) {
    this.#origin = origin;
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#key = privateKey;
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    this.#cose = cbor([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, "base64url")],
      [-3, Buffer.from(y, "base64url")],
    ]);
  }

  /** The answer of navigator.credentials.create to these options, as JSON. */
  register(optionsJson: string, knobs: Knobs = {}): string {
    const options: Options = JSON.parse(optionsJson);
    this.#userHandle = options.user?.id ?? "";
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.credentialId.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.credentialId, this.#cose]);
    const authData = Buffer.concat([this.#head(options.rp?.id ?? "", hasCredential, knobs), credential]);
    const attestationObject = cbor([
      ["fmt", "none"],
      ["attStmt", new Map()],
      ["authData", authData],
    ]);
    const clientDataJSON = this.#clientData("webauthn.create", options.challenge, knobs);
    return this.#answer({ ...encoded({ clientDataJSON, attestationObject }), transports: ["internal"] });
  }

  /** The answer of navigator.credentials.get to these options, as JSON. */
  assert(optionsJson: string, knobs: Knobs = {}): string {
    const options: Options = JSON.parse(optionsJson);
    this.counter = knobs.counter ?? this.counter + 1;
    const authenticatorData = this.#head(options.rpId ?? "", 0, knobs);
    const clientDataJSON = this.#clientData("webauthn.get", options.challenge, knobs);
    const hash = createHash("sha256").update(clientDataJSON).digest();
    const signature = sign("sha256", Buffer.concat([authenticatorData, hash]), this.#key);
    const userHandle = knobs.userHandle ?? this.#userHandle;
    return this.#answer({ ...encoded({ clientDataJSON, authenticatorData, signature }), userHandle });
  }

  #head(rpId: string, flags: number, { rpId: other, isVerified = true }: Knobs): Buffer {
    const rpIdHash = createHash("sha256")
      .update(other ?? rpId)
      .digest();
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    return Buffer.concat([rpIdHash, Buffer.of(userPresent | (isVerified ? userVerified : 0) | flags), counter]);
  }

  #clientData(type: string, challenge: string, { origin = this.#origin }: Knobs): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  #answer(response: object): string {
    const id = this.credentialId.toString("base64url");
    return JSON.stringify({ id, rawId: id, type: "public-key", clientExtensionResults: {}, response });
  }
}

function encoded(parts: Readonly<Record<string, Buffer>>): Record<string, string> {
  return Object.fromEntries(Object.entries(parts).map(([name, bytes]) => [name, bytes.toString("base64url")]));
}

type CborValue = Parameters<typeof isoCBOR.encode>[0];

/** A map as CBOR (RFC 8949). */
function cbor(pairs: readonly (readonly [string | number, CborValue])[]): Buffer {
  return Buffer.from(isoCBOR.encode(new Map(pairs)));
}
