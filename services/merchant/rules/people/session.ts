// Time limits of console sessions, proofs, links and invitations.

const minuteMs = 60_000;
export const idleMsMax = 30 * minuteMs;
export const lifeMsMax = 12 * 60 * minuteMs;
/** Sensitive actions need a proof of at most this age. */
const proofMs = 5 * minuteMs;
/** Uses are recorded to the minute: not every page view should write. */
const useStepMs = minuteMs;
/** The next wrong code ends the session. */
export const wrongCodesMax = 5;
export const challengeMs = 5 * minuteMs;
export const signInLinkMs = 15 * minuteMs;
/** Links per address within `signInLinksMs`. */
export const signInLinksMax = 5;
export const signInLinksMs = 60 * minuteMs;
export const invitationMs = 7 * 24 * 60 * minuteMs;
/** Per team and day. Revoked ones count, too, since each was a mail to a stranger in our name. */
export const invitationMailsMax = 100;
export const invitationMailsMs = 24 * 60 * minuteMs;

interface SessionTimes {
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
}

export function isSessionOver({ lastUsedAt, expiresAt }: SessionTimes, now: Date): boolean {
  return now >= expiresAt || now.getTime() - lastUsedAt.getTime() >= idleMsMax;
}

export function shouldRecordUse({ lastUsedAt }: SessionTimes, now: Date): boolean {
  return now.getTime() - lastUsedAt.getTime() >= useStepMs;
}

/** When the proof expires; undefined if it has expired or there is no proof. */
export function provedUntil(provedAt: Date | null, now: Date): Date | undefined {
  if (!provedAt) return undefined;
  const until = new Date(provedAt.getTime() + proofMs);
  return until > now ? until : undefined;
}
