// Makes X.509 certificates (RFC 5280) with ECDSA P-256 keys: an authority, and servers' certificates under it. Just the
// fields that TLS clients look at, written as DER by hand: Node signs and reads certificates, but does not make them.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

/** A certificate and its private key, both PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

const clockSkewMs = 3_600_000; // clients whose clock is behind accept it at once
const dayMs = 86_400_000;

/** An authority that signs servers' certificates, and no other authority's. */
export function makeAuthority(name: string, days: number): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const extensions = [
    extension(oids.basicConstraints, true, der(tags.sequence, boolean(true), integer(Buffer.from([0])))),
    extension(oids.keyUsage, true, bits(0x06, 1)), // keyCertSign, cRLSign
    extension(oids.subjectKeyId, false, der(tags.octets, keyId(publicKey))),
  ];
  return seal({ subject: name, issuer: name, days, publicKey, extensions, signer: privateKey }, privateKey);
}

/**
 * A server's certificate.
 * @param hosts DNS names and IP addresses; the first one names it
 * @param use servers of a cluster show theirs to each other, as clients too
 */
export function makeServerCertificate(
  authority: Certificate,
  issuer: string,
  hosts: string[],
  days: number,
  use: "server" | "client too" = "server",
): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer = createPrivateKey(authority.key);
  const uses = [oids.serverAuth, ...(use === "client too" ? [oids.clientAuth] : [])];
  const extensions = [
    extension(oids.basicConstraints, true, der(tags.sequence)),
    extension(oids.keyUsage, true, bits(0x80, 7)), // digitalSignature
    extension(oids.extendedKeyUsage, false, der(tags.sequence, ...uses.map(oid))),
    extension(oids.authorityKeyId, false, der(tags.sequence, der(tags.context(0), keyId(createPublicKey(signer))))),
    extension(oids.subjectAltName, false, der(tags.sequence, ...hosts.map(generalName))),
  ];
  return seal({ subject: hosts[0] ?? "", issuer, days, publicKey, extensions, signer }, privateKey);
}

/** A server's certificate that nobody vouches for. */
export function makeSelfSignedCertificate(hosts: string[], days: number): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const extensions = [extension(oids.subjectAltName, false, der(tags.sequence, ...hosts.map(generalName)))];
  const name = hosts[0] ?? "";
  return seal({ subject: name, issuer: name, days, publicKey, extensions, signer: privateKey }, privateKey);
}

interface Contents {
  subject: string;
  issuer: string;
  days: number;
  publicKey: KeyObject;
  extensions: Buffer[];
  signer: KeyObject;
}

/** TBSCertificate and Certificate of RFC 5280 §4.1. */
function seal(contents: Contents, privateKey: KeyObject): Certificate {
  const algorithm = der(tags.sequence, oid(oids.ecdsaWithSha256));
  const body = der(
    tags.sequence,
    der(tags.explicit(0), integer(Buffer.from([2]))), // version 3
    integer(serialNumber()),
    algorithm,
    commonName(contents.issuer),
    der(tags.sequence, time(Date.now() - clockSkewMs), time(Date.now() + contents.days * dayMs)),
    commonName(contents.subject),
    contents.publicKey.export({ type: "spki", format: "der" }),
    der(tags.explicit(3), der(tags.sequence, ...contents.extensions)),
  );
  const signature = sign("sha256", body, contents.signer);
  const certificate = der(tags.sequence, body, algorithm, der(tags.bits, Buffer.from([0]), signature));
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  generalizedTime: 0x18,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
  context: (number: number) => 0x80 | number,
  explicit: (number: number) => 0xa0 | number,
};

const oids = {
  commonName: [2, 5, 4, 3],
  subjectKeyId: [2, 5, 29, 14],
  keyUsage: [2, 5, 29, 15],
  subjectAltName: [2, 5, 29, 17],
  basicConstraints: [2, 5, 29, 19],
  authorityKeyId: [2, 5, 29, 35],
  extendedKeyUsage: [2, 5, 29, 37],
  serverAuth: [1, 3, 6, 1, 5, 5, 7, 3, 1],
  clientAuth: [1, 3, 6, 1, 5, 5, 7, 3, 2],
  ecdsaWithSha256: [1, 2, 840, 10045, 4, 3, 2],
};

/** Tag, length, contents. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  const length: number[] = [];
  for (let rest = body.length; rest > 0; rest = rest >>> 8) length.unshift(rest & 0xff);
  const head = body.length < 0x80 ? [tag, body.length] : [tag, 0x80 | length.length, ...length];
  return Buffer.concat([Buffer.from(head), body]);
}

function boolean(value: boolean): Buffer {
  return der(tags.boolean, Buffer.from([value ? 0xff : 0]));
}

function integer(bytes: Buffer): Buffer {
  return der(tags.integer, bytes);
}

function bits(byte: number, unused: number): Buffer {
  return der(tags.bits, Buffer.from([unused, byte]));
}

/** The first two numbers share a byte; the others are base 128, the high bit on all bytes but the last. */
function oid(numbers: number[]): Buffer {
  const [first = 0, second = 0, ...others] = numbers;
  const bytes = others.flatMap((number) => {
    const digits = [number & 0x7f];
    for (let rest = number >>> 7; rest > 0; rest = rest >>> 7) digits.unshift(0x80 | (rest & 0x7f));
    return digits;
  });
  return der(tags.oid, Buffer.from([first * 40 + second, ...bytes]));
}

function commonName(name: string): Buffer {
  const attribute = der(tags.sequence, oid(oids.commonName), der(tags.utf8, Buffer.from(name)));
  return der(tags.sequence, der(tags.set, attribute));
}

/** Two-digit years up to 2049, four-digit ones after (RFC 5280 §4.1.2.5). */
function time(at: number): Buffer {
  const text = `${new Date(at).toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`;
  return text < "2050" ? der(tags.utcTime, Buffer.from(text.slice(2))) : der(tags.generalizedTime, Buffer.from(text));
}

/** At most 20 bytes, positive, and without a leading zero byte (RFC 5280 §4.1.2.2). */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x01;
  return bytes;
}

function extension(id: number[], critical: boolean, value: Buffer): Buffer {
  return der(tags.sequence, oid(id), ...(critical ? [boolean(true)] : []), der(tags.octets, value));
}

/** Any identifier that is the same in both places will do; the name of the key is its last bytes. */
function keyId(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" }).subarray(-20);
}

function generalName(host: string): Buffer {
  if (isIPv4(host)) return der(tags.context(7), Buffer.from(host.split(".").map(Number)));
  if (host === "::1") return der(tags.context(7), Buffer.concat([Buffer.alloc(15), Buffer.from([1])]));
  return der(tags.context(2), Buffer.from(host));
}
