// Creates X.509 certificates with ECDSA P-256 keys: an authority, and server certificates that it signs.
import type { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import "reflect-metadata"; // must precede the library
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

/** Both are PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

const ecdsa = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const clockSkewMs = 3_600_000; // for clients whose clock is behind
const dayMs = 86_400_000;

/** An authority that signs server certificates only. */
export async function makeAuthority(name: string, days: number): Promise<Certificate> {
  const keys = await newKeys();
  const extensions = [
    new BasicConstraintsExtension(true, 0, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    await SubjectKeyIdentifierExtension.create(keys.publicKey),
  ];
  return await makeCertificate(name, days, keys, extensions);
}

/**
 * @param hosts DNS names and IP addresses; the first one is the subject
 * @param use `client too` for servers of a cluster, which connect to each other
 */
export async function makeServerCertificate(
  authority: Certificate,
  hosts: readonly string[],
  days: number,
  use: "server" | "client too" = "server",
): Promise<Certificate> {
  const issuer = new X509Certificate(authority.cert);
  const issuerKeyId = issuer.getExtension(SubjectKeyIdentifierExtension)?.keyId;
  const [pkcs8] = PemConverter.decode(authority.key);
  if (issuerKeyId === undefined || !pkcs8) throw new Error("not an authority of makeAuthority");
  const signingKey = await crypto.subtle.importKey("pkcs8", pkcs8, ecdsa, false, ["sign"]);
  const extensions = [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([
      ExtendedKeyUsage.serverAuth,
      ...(use === "client too" ? [ExtendedKeyUsage.clientAuth] : []),
    ]),
    new AuthorityKeyIdentifierExtension(issuerKeyId),
    namesOf(hosts),
  ];
  return await makeCertificate(hosts[0] ?? "", days, await newKeys(), extensions, { name: issuer.subject, signingKey });
}

export async function makeSelfSignedCertificate(hosts: readonly string[], days: number): Promise<Certificate> {
  return await makeCertificate(hosts[0] ?? "", days, await newKeys(), [namesOf(hosts)]);
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await crypto.subtle.generateKey(ecdsa, true, ["sign", "verify"]);
}

function namesOf(hosts: readonly string[]): Extension {
  return new SubjectAlternativeNameExtension(
    hosts.map((value) => ({ type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value })),
  );
}

/** @param issuer default: self-signed */
async function makeCertificate(
  commonName: string,
  days: number,
  keys: webcrypto.CryptoKeyPair,
  extensions: Extension[],
  issuer?: { name: string; signingKey: webcrypto.CryptoKey },
): Promise<Certificate> {
  const subject = [{ CN: [commonName] }];
  const certificate = await X509CertificateGenerator.create({
    subject,
    issuer: issuer?.name ?? subject,
    notBefore: new Date(Date.now() - clockSkewMs),
    notAfter: new Date(Date.now() + days * dayMs),
    publicKey: keys.publicKey,
    signingKey: issuer?.signingKey ?? keys.privateKey,
    signingAlgorithm: ecdsa,
    extensions,
  });
  const key = PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { cert: `${certificate.toString("pem")}\n`, key: `${key}\n` };
}
