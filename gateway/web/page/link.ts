// Reads session and secret from the opened link. The secret is removed from the address bar at once and kept in this
// tab until the session ends, for a reload. Return URLs never contain it.
import { membersOf } from "../sdk/members.ts";
import { secretIn, sessionIdIn } from "../session-link.ts";

export interface PageLink {
  readonly sessionId: string;
  readonly secret: string;
}

/** Undefined without a secret for this session. */
export function openLink(): PageLink | undefined {
  const sessionId = openedSession();
  const fromAddress = secretIn(location.href, sessionId);
  const secret = fromAddress ?? secretIn(readKept(sessionId) ?? "", sessionId);
  // An unusable link stays in the address bar, where the buyer can correct it.
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

export function openedSession(): string {
  return sessionIdIn(location.pathname);
}

/** Drops the secret of an ended session; the end is kept for a reload. */
export function forgetSecret(sessionId: string, end: string): void {
  keep(sessionId, "");
  keep(`${sessionId}:paying`, "0");
  keep(`${sessionId}:end`, end);
}

export function endOf(sessionId: string): string | undefined {
  return readKept(`${sessionId}:end`);
}

/** Keeps the shop's URL, which an ended session no longer contains. */
export function keepReturnUrl(sessionId: string, address: string): void {
  keep(`${sessionId}:back`, address);
}

export function readReturnUrl(sessionId: string): string | undefined {
  return readKept(`${sessionId}:back`);
}

const payingMaxMs = 1_800_000; // a visit to a bank's page and back takes minutes

/** True if this tab was paying before a reload or before the processor's page. */
export function isPaying(sessionId: string): boolean {
  return Date.now() - Number(readKept(`${sessionId}:paying`) ?? 0) < payingMaxMs;
}

export function markPaying(sessionId: string, isPayingNow: boolean): void {
  keep(`${sessionId}:paying`, isPayingNow ? String(Date.now()) : "0");
}

// Without storage, the tab's history entry keeps the value: it survives a reload.
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
