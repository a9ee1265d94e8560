// Why a request goes no further although nothing is wrong with it: its person has to sign in, or to add a way to.
import type { Visit } from "./visit.ts";

/** There is no session, or it is over. What was typed is offered again after the sign-in. */
export class SignedOut extends Error {
  override name = "SignedOut";
  readonly visit: Visit;

  constructor(visit: Visit) {
    super("signed out");
    this.visit = visit;
  }
}

/** The session can do nothing but add a passkey or an authenticator app. */
export class SignInMethodRequired extends Error {
  override name = "NeedsWayIn";
}

/** The role may allow it, the merchant's status does not. */
export class MerchantNotActive extends Error {
  override name = "MerchantNotActive";
}

/** A form that is none of ours, or whose page is of another session. */
export class ForeignForm extends Error {
  override name = "ForeignForm";
}

/** The merchant has several files under way. */
export class TooManyFiles extends Error {
  override name = "TooManyFiles";
}

/** A form that is longer than any of ours, or does not say how long it is. */
export class LargeForm extends Error {
  override name = "LargeForm";
  // As Fastify has it of forms without files.
  readonly statusCode = 413;
}
