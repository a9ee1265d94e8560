// Reads the session's secret from the page's option and derives the session's id.
import type { CheckoutError, CreateOptions } from "./contract.ts";
import type { Fail } from "./failure.ts";

const secretFormat = /^cs_secret_([0-9a-z]{26})_[A-Za-z0-9_-]{43}$/;

export interface SessionKey {
  readonly id: string;
  readonly secret: string;
}

/** Never rejects. */
export async function sessionKey(
  source: CreateOptions["sessionSecret"],
  fail: Fail,
): Promise<SessionKey | CheckoutError> {
  let secret: string;
  try {
    secret = String(typeof source === "function" ? await source() : source);
  } catch (cause) {
    return fail("secret_unavailable", { cause });
  }
  if (secret.startsWith("sk_")) {
    console.error("Tollbooth: never use an API key in a browser. Roll this key now.");
    return fail("api_key_in_browser");
  }
  const id = secretFormat.exec(secret)?.[1];
  return id ? { id: `cs_${id}`, secret } : fail("invalid_secret");
}
