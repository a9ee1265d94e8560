// How long a session of a console lives, and how long a proof in it holds. Pure; a session that is over by these rules
// opens nothing, swept away or not.

const minuteMs = 60_000;
/** Nobody used it for that long: it is over. */
export const idleMsMax = 30 * minuteMs;
/** Used or not, it is over then. */
export const lifeMsMax = 12 * 60 * minuteMs;
/** What is grave needs a proof that is no older. */
export const proofMs = 5 * minuteMs;
/** Uses are kept to the minute, so that a page is not a write each time. */
const useStepMs = minuteMs;
/** The sixth wrong code ends the session. */
export const wrongCodesMax = 5;
/** A passkey has that long to answer. */
export const challengeMs = 5 * minuteMs;
/** A link to sign in by works for that long. */
export const signInLinkMs = 15 * minuteMs;
/** So many links an address can be sent in an hour. */
export const signInLinksMax = 5;
export const signInLinksMs = 60 * minuteMs;
export const invitationMs = 7 * 24 * 60 * minuteMs;
/** So many invitations a team can mail in a day: taken back or not, each is a mail to a stranger in our name. */
export const invitationMailsMax = 100;
export const invitationMailsMs = 24 * 60 * minuteMs;

export interface SessionTimes {
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
}

export function isSessionOver({ lastUsedAt, expiresAt }: SessionTimes, now: Date): boolean {
  return now >= expiresAt || now.getTime() - lastUsedAt.getTime() >= idleMsMax;
}

/** True when this use is to be kept. */
export function shouldRecordUse({ lastUsedAt }: SessionTimes, now: Date): boolean {
  return now.getTime() - lastUsedAt.getTime() >= useStepMs;
}

/** Until when what is grave needs no further proof; undefined: it does. */
export function provedUntil(provedAt: Date | null, now: Date): Date | undefined {
  if (!provedAt) return undefined;
  const until = new Date(provedAt.getTime() + proofMs);
  return until > now ? until : undefined;
}
