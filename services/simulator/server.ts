// The HTTP server: routes, body parsing and error responses.
import Fastify, { type FastifyBaseLogger, type FastifyError, type FastifyInstance, LogController } from "fastify";
import { ApiFailure, internalFailure, outageFailure } from "./failure.ts";
import type { Processor } from "./processor.ts";
import { accountOf, assertBearer } from "./routes/api-request.ts";
import { balanceRoutes } from "./routes/balance.ts";
import { disputeRoutes } from "./routes/disputes.ts";
import { eventRoutes } from "./routes/events.ts";
import { fileRoutes } from "./routes/files.ts";
import { formRoutes } from "./routes/form.ts";
import { intentRoutes } from "./routes/intents.ts";
import { pageRoutes } from "./routes/pages.ts";
import { paymentMethodRoutes } from "./routes/payment-methods.ts";
import { refundRoutes } from "./routes/refunds.ts";
import { statementRoutes } from "./routes/statement.ts";
import { testActionRoutes, testIntentRoutes } from "./routes/test-actions.ts";
import { testFaultRoutes } from "./routes/test-faults.ts";
import { testMoneyRoutes } from "./routes/test-money.ts";
import { isDatabaseAway } from "./store/pool.ts";

const bodyBytesMax = 131_072; // callers forward bodies of up to 64 KiB, which grow by escaping
const requestMs = 20_000; // to receive a request; a phone on a bad network takes seconds
const parameterMax = 200; // characters of an id in a path; ours have under 70

export function buildServer(
  processor: Processor,
  options: { readonly secretKey: string; readonly testControls?: boolean },
): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = processor.log;
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyBytesMax,
    requestTimeout: requestMs,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: parameterMax },
  });
  readJsonOnly(app);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const failure = failureOf(error);
    if (failure.status >= 500 && !(error instanceof ApiFailure))
      // Other members of the error are left out, because a database's detail may contain a row.
      request.log.error({ route: request.routeOptions.url, stack: error.stack }, "request failed");
    return reply.code(failure.status).send(failure.body);
  });
  app.setNotFoundHandler((_request, reply) => {
    const failure = new ApiFailure(404, "invalid_request", "unknown_url", "Unknown URL.");
    return reply.code(404).send(failure.body);
  });
  app.addHook("onRequest", async (request) => {
    // Checks the matched route, since a path can be written in several ways.
    const route = request.routeOptions.url ?? "";
    if (/^\/(api|test)\//.test(route)) assertBearer(request, options.secretKey);
    if (route.startsWith("/api/")) accountOf(request);
  });
  app.get("/healthz", async (_request, reply) => {
    await processor.db.query("select 1");
    return reply.send({ status: "ok" });
  });
  intentRoutes(app, processor);
  refundRoutes(app, processor);
  disputeRoutes(app, processor);
  fileRoutes(app, processor);
  statementRoutes(app, processor);
  eventRoutes(app, processor);
  balanceRoutes(app, processor);
  formRoutes(app, processor);
  paymentMethodRoutes(app, processor);
  pageRoutes(app, processor);
  if (options.testControls ?? true) {
    testFaultRoutes(app, processor);
    testActionRoutes(app, processor);
    testIntentRoutes(app, processor);
    testMoneyRoutes(app, processor);
  }
  return app;
}

/** Accepts any JSON value, and an empty body, for which some clients send a content type. */
function readJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, text, done) => {
    try {
      done(null, text.length === 0 ? {} : JSON.parse(String(text)));
    } catch {
      done(new ApiFailure(400, "invalid_request", "invalid_json", "The body is not JSON."));
    }
  });
}

function failureOf(error: Error & { statusCode?: number }): ApiFailure {
  if (error instanceof ApiFailure) return error;
  if (isDatabaseAway(error)) return outageFailure();
  const status = error.statusCode ?? 500;
  return status >= 400 && status < 500
    ? new ApiFailure(status, "invalid_request", "request_invalid", "The request could not be read.")
    : internalFailure();
}
