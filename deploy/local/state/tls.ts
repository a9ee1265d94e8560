// A private certificate authority and a certificate for localhost, so webhooks reach a receiver on this machine over
// HTTPS. Only this stack's webhook delivery trusts the authority.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Certificate } from "./certificate.ts";
import { readIfThere, writePrivate } from "./private-file.ts";

/** Absolute paths of PEM files. */
export interface TlsFiles {
  /** The authority's certificate, which clients trust. */
  ca: string;
  /** The certificate of localhost, 127.0.0.1 and ::1. */
  cert: string;
  key: string;
}

const authorityName = "Tollbooth local authority";
const authorityDays = 3650;
const certificateDays = 397; // the longest that common clients accept
const renewBeforeDays = 30; // a stack that runs past the expiry would fail its webhooks
const dayMs = 86_400_000;

/** Creates the files, and renews the certificate before it expires; the authority stays, since clients trust it. */
export async function tlsFiles(stateDir: string): Promise<TlsFiles> {
  const dir = join(stateDir, "tls");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const files = { ca: join(dir, "ca.pem"), cert: join(dir, "localhost.pem"), key: join(dir, "localhost.key") };
  const caKey = join(dir, "ca.key");
  const [authority, known] = [await load(files.ca, caKey), await load(files.cert, files.key)];
  if (authority && known && new X509Certificate(known.cert).verify(new X509Certificate(authority.cert).publicKey)) {
    return files;
  }
  // Loaded on demand: it takes a tenth of a second of each start.
  const { makeAuthority, makeServerCertificate } = await import("./certificate.ts");
  const signer = authority ?? (await keep(await makeAuthority(authorityName, authorityDays), files.ca, caKey));
  const hosts = ["localhost", "127.0.0.1", "::1"];
  await keep(await makeServerCertificate(signer, hosts, certificateDays), files.cert, files.key);
  return files;
}

/** The stored pair, if certificate and key match and it lasts long enough. */
async function load(certPath: string, keyPath: string): Promise<Certificate | undefined> {
  const [cert, key] = [await readIfThere(certPath), await readIfThere(keyPath)];
  if (cert === undefined || key === undefined) return undefined;
  const read = new X509Certificate(cert);
  const lasts = read.validToDate.getTime() > Date.now() + renewBeforeDays * dayMs;
  return lasts && read.checkPrivateKey(createPrivateKey(key)) ? { cert, key } : undefined;
}

async function keep(pair: Certificate, certPath: string, keyPath: string): Promise<Certificate> {
  await writePrivate(keyPath, pair.key);
  await writePrivate(certPath, pair.cert);
  return pair;
}
