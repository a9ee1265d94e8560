// The company's identity provider (OpenID Connect Discovery 1.0), as the consoles and the merchant service have it.
import { optional, type Setting, text } from "./config.ts";

/** https, or http on this machine. */
const issuer: Setting<string> = {
  parse: (raw) => {
    const parsed = URL.canParse(raw) ? new URL(raw) : undefined;
    const isLocal = parsed?.protocol === "http:" && ["localhost", "127.0.0.1"].includes(parsed.hostname);
    if (parsed?.search !== "" || parsed.hash !== "" || !(isLocal || parsed.protocol === "https:")) {
      throw new Error("must be an https address without a query, or http on this machine");
    }
    return raw;
  },
};

export const providerSettings = {
  /** The identity provider that people may sign in by, exactly as its tokens name it; without it they do not. */
  OIDC_ISSUER: optional(issuer),
  /** What it calls the consoles. Belongs to OIDC_ISSUER. */
  OIDC_CLIENT_ID: optional(text),
} as const;

/** @returns undefined: nobody signs in by one. @throws when half of it is set */
export function providerOf({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: clientId,
}: {
  readonly OIDC_ISSUER?: string | undefined;
  readonly OIDC_CLIENT_ID?: string | undefined;
}): { readonly issuer: string; readonly clientId: string } | undefined {
  if ((issuer === undefined) !== (clientId === undefined)) {
    throw new Error("OIDC_ISSUER and OIDC_CLIENT_ID belong together");
  }
  return issuer === undefined || clientId === undefined ? undefined : { issuer, clientId };
}
