// The ingress of processors' signed webhooks. The body's exact bytes go to payments, which verifies the signature; there is no
// other authentication. Not part of the public API.
import type { FastifyInstance } from "fastify";
import { callContext } from "#platform/call-context.ts";
import { Failure } from "#platform/failure.ts";
import { ApiError } from "../failures.ts";
import type { Peers } from "../peers.ts";

// What payments takes; the largest event of any processor is a small part of it.
const eventMaxBytes = 1024 * 1024;
// What signatures are made of or lie in.
const passedHeaders = ["processor-signature", "stripe-signature", "content-type"] as const;
const connectorFormat = /^[a-z0-9_-]{1,32}$/;
const accountFormat = /^[A-Za-z0-9_-]{1,128}$/;

/** Adds the route, with a body parser of its own: bytes, whatever the content type says. */
export function processorRoutes(app: FastifyInstance, { payments }: Pick<Peers, "payments">): void {
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    scope.post<{ Params: { connector: string; account: string } }>(
      "/processors/:connector/:account",
      { bodyLimit: eventMaxBytes },
      async (request) => {
        const { connector, account } = request.params;
        if (!connectorFormat.test(connector) || !accountFormat.test(account)) throw new ApiError("not_found");
        const headers: Record<string, string> = {};
        for (const name of passedHeaders) {
          const value = request.headers[name];
          if (typeof value === "string") headers[name] = value;
        }
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        await callContext.run(request.call, () =>
          receive(payments, { connector, externalAccountId: account, body, headers }),
        );
        return { received: true };
      },
    );
    done();
  });
}

interface ProcessorEvent {
  readonly connector: string;
  readonly externalAccountId: string;
  readonly body: Uint8Array;
  readonly headers: Record<string, string>;
}

/** A bad signature is a bad request: 401 would invite the processor to look for a key. */
async function receive(payments: Peers["payments"], event: ProcessorEvent): Promise<void> {
  try {
    await payments.receiveProcessorEvent(event);
  } catch (error) {
    if (error instanceof Failure && error.reason === "UNAUTHORIZED") throw new ApiError("invalid_body");
    throw error;
  }
}
