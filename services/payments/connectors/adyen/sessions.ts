// Adyen's sessions: the card fields of the surface `embedded`. The buyer's browser makes the attempts, and webhooks
// report them. A session can neither be read nor ended: its time ends it.
import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Mount, ProcessorAccount } from "../connector.ts";
import type { Notice } from "../notice-log.ts";
import { textOf } from "./attempt.ts";

const SessionShape = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 255 }),
  sessionData: Type.String({ minLength: 1 }),
  expiresAt: Type.String(),
  reference: Type.String(),
  amount: Type.Object({ currency: Type.String(), value: Type.Integer() }),
});
type Session = Static<typeof SessionShape>;
const shape = Compile(SessionShape);

export function readSession(body: unknown): Session {
  if (!shape.Check(body)) throw new Error("not a session of Adyen");
  return body;
}

// The release and its hashes, equal in all regions: https://docs.adyen.com/online-payments/release-notes
const webVersion = "6.45.2";
const scriptIntegrity = "sha384-crX4Byf88JpnQfdUaDuwVOj3qlk5tmSa3rhIalmJIyo1kC49EDIcnNQ9fY5blVUV";
const styleIntegrity = "sha384-KhV4iC2YVQosq5vzx0xN0yGDVMZA++mbd6obc2JKUszVBdXmexFTRHOXKh5DcqDF";

/** @param session without `sessionData` if only its notice is known */
export function sessionMount(
  account: ProcessorAccount,
  { id, expiresAt, sessionData = "" }: Pick<Session, "id" | "expiresAt"> & Partial<Session>,
): Mount {
  const environment = account.environment === Environment.LIVE ? "live" : "test";
  const files = `https://checkoutshopper-${environment}.cdn.adyen.com/checkoutshopper/sdk/${webVersion}`;
  return {
    ...{ kind: "element", frameUrl: "", redirectUrl: "" },
    publishableKey: account.credentials.client_key ?? "",
    clientSecret: sessionData,
    ...{ scriptUrl: `${files}/adyen.js`, scriptIntegrity, styleUrl: `${files}/adyen.css`, styleIntegrity },
    options: JSON.stringify({ session: id, environment, country: account.merchantCountry }),
    expiresAt: new Date(expiresAt),
  };
}

// A buyer may be on the bank's page when the session expires. Adyen closes an abandoned card payment after 12 hours
// (OFFER_CLOSED): https://docs.adyen.com/development-resources/webhooks/webhook-types
const attemptMs = 12 * 3_600_000;

/** When the last attempt on the session has ended; undefined: one may still be under way. */
export function sessionEndedAt(made: Notice, now: Date): Date | undefined {
  const end = new Date(new Date(textOf(made.details, "expiresAt")).getTime() + attemptMs);
  return end <= now ? end : undefined;
}
