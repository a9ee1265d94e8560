// Stores the e-mail that a buyer enters on the page. Phases: 1 open the session with its secret · 2 store the e-mail
// while the session is open, unless the merchant gave one · 3 payments stores it, too. The session numbers the e-mails,
// so that both services keep the same of two concurrent ones. A crash between 2 and 3 is repaired by a repeated call.
import { isBuyerEmail } from "#platform/values/email.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import type { CheckoutContext } from "../../context.ts";
import { isLive, paymentIdOf, type SessionStatus } from "../../rules/session.ts";
import { saveBuyerEmail } from "../../store/sessions.ts";
import { openWithSecret } from "../session-secret.ts";

interface GiveEmailResult {
  readonly sessionId: string;
  readonly status: SessionStatus;
  readonly accepted: boolean;
}

/** @throws Failure NOT_FOUND, INVALID_BODY, SESSION_EXPIRED (expired or canceled), and failures of payments */
export async function giveEmail(
  context: Pick<CheckoutContext, "db" | "hashKeys" | "log" | "payments">,
  sessionId: string,
  secret: string,
  email: string,
): Promise<GiveEmailResult> {
  const { id, state } = await openWithSecret(context, sessionId, secret);
  const { status } = state;
  if (status !== "completed" && !isLive(status)) throw new Failure("SESSION_EXPIRED");
  if (!isBuyerEmail(email)) throw invalidField("customer_email", "must be an e-mail address");
  const turn = await saveBuyerEmail(context.db, id, email);
  if (turn === undefined) return { sessionId: id, status, accepted: false };
  await context.payments.noteCustomerEmail({ paymentId: paymentIdOf(id), customerEmail: email, turn });
  return { sessionId: id, status, accepted: true };
}
