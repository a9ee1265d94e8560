// A session's id and secret in an address, and the reference that a buyer quotes. Mail tools and chats add to links;
// both have a fixed form, so they are found wherever they are.

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

const shortIdLength = 18; // `pay_` and fourteen characters: the beginning that staff search by, and no two have alike

/** The order's number, else the beginning of the payment's id, which follows from the session's id. */
export function referenceOf({ id, reference }: { readonly id: string; readonly reference?: string }): string {
  return reference ?? `pay_${id.slice("cs_".length)}`.slice(0, shortIdLength);
}
