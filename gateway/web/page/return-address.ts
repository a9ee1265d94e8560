// Where the buyer goes when done: the merchant's address with the session's id and how it stands, never its secret.

/** The merchant's own parameters and fragment stay; ours come before the fragment. */
export function returnAddress(address: string, sessionId: string, status: string): string {
  const url = new URL(address);
  url.searchParams.set("session_id", sessionId);
  url.searchParams.set("status", status);
  return url.href;
}
