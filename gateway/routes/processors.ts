// Receives processors' signed webhooks. Payments must know the account before the body is read, and verifies the
// signature over its exact bytes. Not part of the public API.
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { callContext } from "#platform/values/call-context.ts";
import { Failure, type FailureReason } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import type { GatewayContext } from "../auth/auth.ts";
import { ApiError } from "../failures.ts";
import type { Peers } from "../peers.ts";

// Ten times the largest event of any processor.
const eventMaxBytes = 256 * 1024;
// Headers that carry or enter the signature; Adyen also sends a password.
const passedHeaders = ["processor-signature", "stripe-signature", "authorization", "content-type"] as const;
const connectorFormat = /^[a-z0-9_-]{1,32}$/;
const accountFormat = /^[A-Za-z0-9_-]{1,128}$/;

interface EventAddress {
  readonly connector: string;
  readonly externalAccountId: string;
}

export function processorRoutes(
  context: Pick<GatewayContext, "app" | "addresses">,
  { payments }: Pick<Peers, "payments">,
): void {
  const allowEvent = (request: FastifyRequest, reply: FastifyReply, ask: () => Promise<unknown>) =>
    context.addresses.allow("event", request, reply, () => withUniformRefusal(request, ask));
  context.app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    // Only the body of a known account is read up to the limit, so the refusal must not differ.
    scope.setErrorHandler(async (error) => {
      throw membersOf(error).code === "FST_ERR_CTP_BODY_TOO_LARGE" ? refusal() : error;
    });
    scope.post<{ Params: { connector: string; account: string } }>(
      "/processors/:connector/:account",
      {
        bodyLimit: eventMaxBytes,
        config: { holdsBody: true },
        onRequest: async (request, reply) => {
          if (Number(request.headers["content-length"]) > eventMaxBytes) throw new ApiError("payload_too_large");
          const address = addressOf(request);
          await allowEvent(request, reply, () => payments.findProcessorAccount(address).catch(ignoreUnimplemented));
        },
      },
      async (request, reply) => {
        const headers: Record<string, string> = {};
        for (const name of passedHeaders) {
          const value = request.headers[name];
          if (typeof value === "string") headers[name] = value;
        }
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const event = { ...addressOf(request), body, headers };
        await allowEvent(request, reply, () => payments.receiveProcessorEvent(event));
        return { received: true };
      },
    );
    done();
  });
}

function addressOf(request: FastifyRequest): EventAddress {
  const { connector, account } = membersOf(request.params);
  const isAddress =
    typeof connector === "string" &&
    connectorFormat.test(connector) &&
    typeof account === "string" &&
    accountFormat.test(account);
  if (!isAddress) throw refusal();
  return { connector, externalAccountId: account };
}

/** Makes all refusals of payments look the same: callers must not learn which accounts exist. */
async function withUniformRefusal(request: FastifyRequest, ask: () => Promise<unknown>): Promise<void> {
  try {
    await callContext.run(request.call, ask);
  } catch (error) {
    throw error instanceof Failure && refusedReasons.has(error.reason) ? refusal() : error;
  }
}

const refusedReasons = new Set<FailureReason>(["NOT_FOUND", "UNAUTHORIZED", "INVALID_BODY"]);

/** 401 would suggest that a key is missing. `close` matches the response to an unread body. */
function refusal(): ApiError {
  return new ApiError("invalid_body", { headers: { connection: "close" } });
}

/** A payments service of the previous release lacks this call; it looks up the account with the event. */
function ignoreUnimplemented(error: unknown): void {
  const cause = error instanceof Failure ? error.cause : undefined;
  if (!(cause instanceof ConnectError && cause.code === Code.Unimplemented)) throw error;
}
