// Certificate files named by settings. They are checked at the start, where the error can name the file; later it would
// be an unexplained handshake failure.
import { createPrivateKey, X509Certificate } from "node:crypto";
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

/** Path of a PEM file with a private key. */
export const privateKeyFile = {
  parse: (path: string): string => {
    const text = readPem(path);
    try {
      createPrivateKey(text);
    } catch {
      throw new Error(`names ${path}, which has no private key (PEM) without a passphrase`);
    }
    return path;
  },
};

/** Problems of a server's certificate and key together, one line each. Unreadable settings are absent. */
export function keyPairProblems(values: Readonly<Record<string, unknown>>): string[] {
  const names = ["RPC_TLS_CERT_FILE", "RPC_TLS_KEY_FILE"] as const;
  const [cert, key] = names.map((name) => values[name]);
  if (typeof cert === "string" && typeof key === "string") {
    const isPair = new X509Certificate(readPem(cert)).checkPrivateKey(createPrivateKey(readPem(key)));
    return isPair ? [] : [`RPC_TLS_KEY_FILE names ${key}, which is not the key of the certificate in ${cert}`];
  }
  const missing = names.filter((name) => values[name] === undefined);
  return names.every((name) => name in values) && missing.length === 1
    ? [`${missing[0]} is missing: RPC_TLS_CERT_FILE and RPC_TLS_KEY_FILE belong together`]
    : [];
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
