// Certificate files named by settings. They are checked at the start, where the error can name the file; later it would
// be an unexplained handshake failure.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

/** Path of a PEM file with CA certificates, at least one of them valid now. */
export const certificateFile = {
  parse: (path: string): string => {
    readCertificates(path);
    return path;
  },
};

/** The file's text instead of its path. */
export const certificates = { parse: readCertificates };

/** Checks the TLS files that a PostgreSQL URL names. @throws Error with the file and the problem */
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
  // While a CA is being replaced, one of several certificates may have expired.
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
