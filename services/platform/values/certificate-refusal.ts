// A server whose certificate this process does not believe, in one sentence that says what is wrong with it, instead of
// a handshake's error.

/** The server's certificate is refused; `code` as the client gave it, e.g. CERT_HAS_EXPIRED. */
export class CertificateRefused extends Error {
  override name = "CertificateRefused";
  readonly code: string;

  /**
   * @param server the setting that names it. @param authority the file of who has to vouch for it; absent: those that
   * Node knows
   */
  constructor(server: string, authority: string | undefined, { code, what }: Refusal, cause: unknown) {
    const by = authority === undefined ? "the authorities that Node knows" : authority;
    super(`${server} leads to a server whose certificate ${what}; who vouches for it: ${by} (${code})`, { cause });
    this.code = code;
  }
}

interface Refusal {
  readonly code: string;
  readonly what: string;
}

// OpenSSL's and Node's codes for a certificate that does not hold.
const known: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired, or its authority's has",
  CERT_NOT_YET_VALID: "is not valid yet, or its authority's is not: compare the clocks",
  CERT_REVOKED: "is revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "is for another name",
};
const unvouched =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE)|CERT_(UNTRUSTED|REJECTED|SIGNATURE_FAILURE)|INVALID_CA|INVALID_PURPOSE)$/;
const depthMax = 5;

/** Why the certificate is refused; undefined: the error is about something else. Clients wrap it, each in its way. */
export function certificateRefusal(error: unknown, depth = 0): Refusal | undefined {
  if (!(error instanceof Error) || depth > depthMax) return undefined;
  const code = "code" in error ? String(error.code) : "";
  const what = known[code] ?? (unvouched.test(code) ? "nobody vouches for" : undefined);
  if (what !== undefined) return { code, what };
  const chained = "chainedError" in error ? error.chainedError : undefined;
  return certificateRefusal(error.cause, depth + 1) ?? certificateRefusal(chained, depth + 1);
}
