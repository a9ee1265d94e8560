// Reads language and merchant of a hosted page, for the first response before the browser has shown the session's
// secret. The other fields are for a gateway of the previous release.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { requireFound } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { DescribePageResponseSchema } from "#proto/checkout/v1/checkout_pb.ts";
import type { CheckoutContext } from "../context.ts";
import { findSession } from "../store/sessions.ts";
import { openedRender } from "./session-secret.ts";

/** @throws Failure NOT_FOUND. */
export async function describePage(
  context: Pick<CheckoutContext, "db" | "vault">,
  sessionId: string,
): Promise<MessageInitShape<typeof DescribePageResponseSchema>> {
  const session = requireFound(isId("session", sessionId) ? await findSession(context.db, sessionId) : undefined);
  const { environment, locale, connector, merchantId } = session;
  const render = openedRender(context.vault, session);
  return {
    environment,
    locale,
    connector,
    merchantId,
    scriptOrigin: originOf(render?.scriptUrl),
    frameOrigin: originOf(render?.frameUrl),
  };
}

/** The origin alone, since path and fragment contain the processor's secret. */
function originOf(address: string | undefined): string {
  return address && URL.canParse(address) ? new URL(address).origin : "";
}
