// The link that was opened: the session from the path, its secret from the fragment, or from `?secret=` where a mail
// program lost the fragment. The secret leaves the address bar at once and stays in this tab until the session has
// ended, so that a reload finds it.

export interface PageLink {
  readonly sessionId: string;
  readonly secret: string;
}

const secretFormat = /^cs_secret_([0-9a-z]{26})_[A-Za-z0-9_-]{43}$/;

/** undefined: there is no secret for this session. */
export function openLink(): PageLink | undefined {
  const sessionId = openedSession();
  const url = new URL(location.href);
  const given = [url.hash.slice(1), url.searchParams.get("secret") ?? ""].find((text) => secretFormat.test(text));
  if (url.hash !== "" || url.searchParams.has("secret")) {
    url.hash = "";
    url.searchParams.delete("secret");
    history.replaceState(null, "", url.href);
  }
  const secret = given ?? readKept(sessionId);
  if (secret === undefined || sessionId !== `cs_${secretFormat.exec(secret)?.[1]}`) return undefined;
  keep(sessionId, secret);
  return { sessionId, secret };
}

/** The session in the address. */
export function openedSession(): string {
  return location.pathname.split("/").at(-1) ?? "";
}

/** The session has ended: its secret opens nothing that the buyer still needs. How it ended stays, for a reload. */
export function forgetSecret(sessionId: string, end: string): void {
  keep(sessionId, "");
  keep(`${sessionId}:paying`, "0");
  keep(`${sessionId}:end`, end);
}

/** How the session ended in this tab, if it did. */
export function endOf(sessionId: string): string | undefined {
  return readKept(`${sessionId}:end`);
}

/** The way back to the shop, for when the session has ended and tells it no more. */
export function noteWayBack(sessionId: string, address: string): void {
  keep(`${sessionId}:back`, address);
}

export function wayBack(sessionId: string): string | undefined {
  return readKept(`${sessionId}:back`);
}

const payingMaxMs = 1_800_000; // a visit to a bank's page and back takes minutes

/** True when this tab was in the middle of paying: before a reload, or before the processor's page. */
export function isPaying(sessionId: string): boolean {
  return Date.now() - Number(readKept(`${sessionId}:paying`) ?? 0) < payingMaxMs;
}

export function notePaying(sessionId: string, isPayingNow: boolean): void {
  keep(`${sessionId}:paying`, isPayingNow ? String(Date.now()) : "0");
}

function readKept(key: string): string | undefined {
  try {
    return sessionStorage.getItem(`tollbooth:${key}`) ?? undefined;
  } catch {
    return undefined; // storage is switched off: the link still works, a reload does not
  }
}

function keep(key: string, value: string): void {
  try {
    if (value === "") sessionStorage.removeItem(`tollbooth:${key}`);
    else sessionStorage.setItem(`tollbooth:${key}`, value);
  } catch {
    // as above
  }
}
