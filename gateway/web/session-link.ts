// Finds a session's id and secret in a link, and derives the buyer's reference and the way back to the shop. Mail
// programs and chats append to links, but id and secret have a fixed form.

const secretForm = /cs_secret_([0-9a-z]{26})_[A-Za-z0-9_-]{43}/;

/** Empty if there is no id. */
export function sessionIdIn(path: string): string {
  return /cs_[0-9a-z]{26}/.exec(path)?.[0] ?? "";
}

/** Of a payment link; empty if there is no id. */
export function linkIdIn(path: string): string {
  return /pl_[0-9a-z]{26}/.exec(path)?.[0] ?? "";
}

/** The secret, if it belongs to this session. */
export function secretIn(address: string, sessionId: string): string | undefined {
  const [secret, suffix] = secretForm.exec(address) ?? [];
  return sessionId === `cs_${suffix}` ? secret : undefined;
}

const shortIdLength = 18; // `pay_` and fourteen characters: unique, and searchable as a prefix

/** The order number, or the beginning of the payment's id, which follows from the session's id. */
export function referenceOf({ id, reference }: { readonly id: string; readonly reference?: string }): string {
  return reference ?? `pay_${id.slice("cs_".length)}`.slice(0, shortIdLength);
}

/** Adds our parameters and keeps the merchant's own parameters and fragment. */
export function returnAddress(address: string, sessionId: string, status: string): string {
  const url = new URL(address);
  url.searchParams.set("session_id", sessionId);
  url.searchParams.set("status", status);
  return url.href;
}
