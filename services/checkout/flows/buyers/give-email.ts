// Takes the e-mail that a buyer gives on the page. Phases: 1 open the session with its secret · 2 take it, while the
// session is open and unless its merchant gave one · 3 payments notes it. The session counts the buyer's e-mails, so
// that of two given at the same moment both keep the same one; a call that broke between 2 and 3 is simply repeated.

import { isBuyerEmail } from "#platform/values/email.ts";
import { Failure, invalid } from "#platform/values/failure.ts";
import type { CheckoutContext } from "../../context.ts";
import { isLive, paymentIdOf, type SessionStatus } from "../../rules/session.ts";
import { takeEmail } from "../../store/sessions.ts";
import { openWithSecret } from "../session-secret.ts";

export interface GiveEmailResult {
  readonly sessionId: string;
  readonly status: SessionStatus;
  readonly accepted: boolean;
}

/** @throws Failure NOT_FOUND, INVALID_BODY, SESSION_EXPIRED (expired or canceled); what payments could not note. */
export async function giveEmail(
  context: Pick<CheckoutContext, "db" | "hashKeys" | "log" | "payments">,
  sessionId: string,
  secret: string,
  email: string,
): Promise<GiveEmailResult> {
  const { id, state } = await openWithSecret(context, sessionId, secret);
  const { status } = state;
  if (status !== "completed" && !isLive(status)) throw new Failure("SESSION_EXPIRED");
  if (!isBuyerEmail(email)) throw invalid("customer_email", "must be an e-mail address");
  const turn = await takeEmail(context.db, id, email);
  if (turn === undefined) return { sessionId: id, status, accepted: false };
  await context.payments.noteCustomerEmail({ paymentId: paymentIdOf(id), customerEmail: email, turn });
  return { sessionId: id, status, accepted: true };
}
