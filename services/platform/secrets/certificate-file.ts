// Files of certificates that settings name. What is wrong with one is said at the start, with the file's name: later it
// would be a handshake that fails for no reason that anybody told.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

/** The path of a PEM file with the certificates of authorities, of which one is valid now. */
export const certificateFile = {
  parse: (path: string): string => {
    readCertificates(path);
    return path;
  },
};

/** The same, as its text. */
export const certificates = { parse: readCertificates };

/**
 * What the URL of a PostgreSQL server names for TLS can be used. @throws Error that names the file and what is wrong
 */
export function assertTlsFiles(databaseUrl: string): void {
  const named = new URL(databaseUrl).searchParams;
  for (const name of ["sslrootcert", "sslcert"]) {
    const path = named.get(name);
    if (path) readCertificates(path);
  }
  const key = named.get("sslkey");
  if (key) readPem(key);
}

const block = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

function readCertificates(path: string): string {
  const text = readPem(path);
  const found = (text.match(block) ?? []).map((pem) => certificateOf(path, pem));
  const [first] = found;
  if (!first) throw new Error(`names ${path}, which has no certificate (PEM)`);
  const now = Date.now();
  // Of several, as while an authority is replaced, one may have ended.
  if (found.some((each) => each.validFromDate.getTime() <= now && now < each.validToDate.getTime())) return text;
  const ended = first.validToDate.getTime() <= now;
  const when = ended ? `ended on ${first.validTo}` : `is not valid before ${first.validFrom}`;
  throw new Error(`names ${path}, whose certificate (${first.subject.replaceAll("\n", ", ")}) ${when}`);
}

function certificateOf(path: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new Error(`names ${path}, which has a certificate that cannot be read`);
  }
}

function readPem(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw new Error(`names ${path}, which cannot be read`);
  }
}
