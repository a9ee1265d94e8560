// A passkey authenticator in software (WebAuthn level 3, ES256): what a browser and its device answer, without either.
// A test turns its knobs to answer as a thief, a copy or another site would.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

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
    this.#cose = cborMap([
      [cborInt(1), cborInt(2)],
      [cborInt(3), cborInt(-7)],
      [cborInt(-1), cborInt(1)],
      [cborInt(-2), cborBytes(Buffer.from(x, "base64url"))],
      [cborInt(-3), cborBytes(Buffer.from(y, "base64url"))],
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
    const attestationObject = cborMap([
      [cborText("fmt"), cborText("none")],
      [cborText("attStmt"), cborMap([])],
      [cborText("authData"), cborBytes(authData)],
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

// CBOR (RFC 8949), as much as an attestation needs.

function cborHead(major: number, value: number): Buffer {
  if (value < 24) return Buffer.of((major << 5) | value);
  if (value < 256) return Buffer.of((major << 5) | 24, value);
  return Buffer.of((major << 5) | 25, value >> 8, value & 255);
}

function cborInt(value: number): Buffer {
  return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
}

function cborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([cborHead(2, bytes.length), bytes]);
}

function cborText(text: string): Buffer {
  return Buffer.concat([cborHead(3, Buffer.byteLength(text)), Buffer.from(text)]);
}

function cborMap(pairs: readonly (readonly [Buffer, Buffer])[]): Buffer {
  return Buffer.concat([cborHead(5, pairs.length), ...pairs.flat()]);
}
