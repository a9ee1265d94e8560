// Reasons that stop a request before its screen.
import type { Visit } from "./visit.ts";

/** The session is missing or expired. The form is offered again after the sign-in. */
export class SignedOut extends Error {
  override name = "SignedOut";
  readonly visit: Visit;

  constructor(visit: Visit) {
    super("signed out");
    this.visit = visit;
  }
}

/** The session can only add a passkey or an authenticator app. */
export class SignInMethodRequired extends Error {
  override name = "SignInMethodRequired";
}

/** The merchant's status does not allow the action. */
export class MerchantNotActive extends Error {
  override name = "MerchantNotActive";
}

/** A form of another site or another session. */
export class ForeignForm extends Error {
  override name = "ForeignForm";
}

/** The merchant already downloads several files. */
export class TooManyFiles extends Error {
  override name = "TooManyFiles";
}

/** A form over the size limit, or without a Content-Length. */
export class LargeForm extends Error {
  override name = "LargeForm";
  // The status that Fastify uses for forms without files.
  readonly statusCode = 413;
}
