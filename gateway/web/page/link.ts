// The link that was opened: the session from the path, its secret from wherever the link has it. Mail tools and
// chats append parameters and punctuation, but id and secret have a fixed form. A secret that was found leaves the
// address bar at once and stays in this tab until the session has ended, so that a reload finds it. And the address
// that the buyer returns to, which never has the secret.
import { membersOf } from "../sdk/members.ts";
import { secretIn, sessionIdIn } from "../session-link.ts";

export interface PageLink {
  readonly sessionId: string;
  readonly secret: string;
}

/** undefined: there is no secret for this session. */
export function openLink(): PageLink | undefined {
  const sessionId = openedSession();
  const fromAddress = secretIn(location.href, sessionId);
  const secret = fromAddress ?? secretIn(readKept(sessionId) ?? "", sessionId);
  // What opens nothing here stays in the address, where the buyer can see and correct it.
  if (!secret) return undefined;
  if (fromAddress) hideSecret(sessionId);
  keep(sessionId, secret);
  return { sessionId, secret };
}

function hideSecret(sessionId: string): void {
  const url = new URL(location.href);
  url.pathname = `/c/${sessionId}`;
  url.hash = "";
  for (const [name, value] of [...url.searchParams]) if (secretIn(value, sessionId)) url.searchParams.delete(name);
  history.replaceState(history.state, "", url.href);
}

/** The session in the address. */
export function openedSession(): string {
  return sessionIdIn(location.pathname);
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
export function keepReturnUrl(sessionId: string, address: string): void {
  keep(`${sessionId}:back`, address);
}

export function readReturnUrl(sessionId: string): string | undefined {
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

// Where storage is switched off, the entry of the tab's history keeps it: a reload finds it, another address does not.
function readKept(key: string): string | undefined {
  try {
    return sessionStorage.getItem(`tollbooth:${key}`) ?? undefined;
  } catch {
    return String(membersOf(history.state)[key] ?? "") || undefined;
  }
}

function keep(key: string, value: string): void {
  try {
    if (value === "") sessionStorage.removeItem(`tollbooth:${key}`);
    else sessionStorage.setItem(`tollbooth:${key}`, value);
  } catch {
    history.replaceState({ ...membersOf(history.state), [key]: value }, "");
  }
}

/** The merchant's own parameters and fragment stay; ours come before the fragment. */
export function returnAddress(address: string, sessionId: string, status: string): string {
  const url = new URL(address);
  url.searchParams.set("session_id", sessionId);
  url.searchParams.set("status", status);
  return url.href;
}
