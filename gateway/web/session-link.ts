// A session's id and secret in an address. Mail tools and chats add to links, before and behind; both have a fixed
// form, so they are found wherever they are.

const secretForm = /cs_secret_([0-9a-z]{26})_[A-Za-z0-9_-]{43}/;

/** Empty: there is none. */
export function sessionIdIn(path: string): string {
  return /cs_[0-9a-z]{26}/.exec(path)?.[0] ?? "";
}

/** The secret, if it is this session's. */
export function secretIn(address: string, sessionId: string): string | undefined {
  const [secret, suffix] = secretForm.exec(address) ?? [];
  return sessionId === `cs_${suffix}` ? secret : undefined;
}
