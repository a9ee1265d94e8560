// The gateway: the public JSON contract in front of the services. It keeps no state of its own but caches and rate
// limits, and runs as any number of replicas.
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { brokerOf } from "#platform/broker/connection.ts";
import { heardEvents } from "#platform/broker/streams.ts";
import { EventBus } from "#platform/events/event-bus.ts";
import { type Drain, drainAtOnce } from "#platform/process/drain.ts";
import { createLog, type Log } from "#platform/telemetry/log.ts";
import { buyerEmail } from "#platform/values/email.ts";
import { newId } from "#platform/values/id.ts";
import { releaseVersion } from "#platform/values/release.ts";
import { type GatewayContext, headerCount } from "./auth/auth.ts";
import { KeyUses } from "./auth/key-uses.ts";
import { ApiError, errorAnswer } from "./failures.ts";
import { guardBodies } from "./http/body/body-guard.ts";
import { assertJsonText, jsonType } from "./http/body/body-type.ts";
import { bodyMaxBytes, parseBody } from "./http/body/json-body.ts";
import { readAddresses, trustedProxies } from "./http/caller-address.ts";
import { errorHandler, sendError } from "./http/error-handler.ts";
import { BrokenConnections, refuseExpectation } from "./http/http-parser-error.ts";
import { ownFormats } from "./http/own-formats.ts";
import { secureTransport, transportSecurity } from "./http/transport-security.ts";
import { AddressLimits } from "./limits/address-limits.ts";
import { RateLimits } from "./limits/rate-limits.ts";
import { shareLimits } from "./limits/rate-share.ts";
import { ApiRequests } from "./log/api-requests.ts";
import { followRequests } from "./log/request-log.ts";
import { closeOtherMethods, openToBrowsers, takeEveryMethod } from "./methods.ts";
import { connectPeers, type Peers } from "./peers.ts";
import { Principals } from "./principal.ts";
import { parseQuery } from "./query-text.ts";
import { apiKeyRoutes } from "./routes/api-keys.ts";
import { buyerPaths, checkoutRoutes } from "./routes/checkout.ts";
import { checkoutSessionRoutes } from "./routes/checkout-sessions.ts";
import { connectorRoutes } from "./routes/connectors.ts";
import { disputeFileRoutes } from "./routes/disputes/dispute-files.ts";
import { disputeRoutes } from "./routes/disputes/disputes.ts";
import { eventRoutes } from "./routes/events.ts";
import { healthRoutes } from "./routes/health.ts";
import { logRoutes } from "./routes/logs.ts";
import { merchantRoutes } from "./routes/merchant.ts";
import { onboardingRoutes } from "./routes/onboarding.ts";
import { browserScriptRoutes } from "./routes/pages/browser-scripts.ts";
import { documentRoutes, securityContactRoute } from "./routes/pages/documents.ts";
import { hostedPageRoutes } from "./routes/pages/hosted-page.ts";
import { pageReportRoutes } from "./routes/pages/page-reports.ts";

import { paymentRoutes } from "./routes/payments.ts";
import { processorRoutes } from "./routes/processors.ts";
import { refundRoutes } from "./routes/refunds.ts";
import { webhookDeliveryRoutes } from "./routes/webhook-deliveries.ts";
import { webhookEndpointRoutes } from "./routes/webhook-endpoints.ts";
import type { GatewayConfig } from "./settings.ts";
import { sessionIdIn } from "./web/session-link.ts";

// How often Node looks for requests that are late: they end at most this much after their time.
const lateCheckMs = 1_000;
// Longer than the idle time of common load balancers (60 s), so that it is they who close.
const keepAliveMs = 65_000;

/** A running gateway. */
export interface Gateway {
  readonly port: number;
  /** Whether this replica takes requests; whether the services behind it work is asked at the public `/readyz`. */
  ready(): Promise<boolean>;
  /** Lets requests in flight end, then closes everything. */
  stop(drain?: Drain): Promise<void>;
}

/** Starts it. */
export async function startGateway(config: GatewayConfig): Promise<Gateway> {
  const log = createLog("gateway", config.LOG_LEVEL);
  const peers = connectPeers(config);
  const bus = new EventBus({
    broker: brokerOf(config),
    keys: config.EVENT_KEYS_FILE,
    namespace: config.NATS_NAMESPACE,
    name: "gateway",
    log,
  });
  const principals = new Principals(peers.apiKeys, () => bus.isUpToDate);
  forgetChangedKeys(bus, principals);
  const keyUses = new KeyUses(peers.apiKeys, log);
  const app = createApp(config);
  secureTransport(app, config);
  readAddresses(app, config);
  followRequests(app, log);
  refuseAtOnce(app);
  guardBodies(app, () => new ApiError("service_unavailable"));
  const requests = new ApiRequests(peers.audit, log);
  requests.follow(app);
  app.setErrorHandler(errorHandler(log));
  app.setNotFoundHandler(async (_request, reply) => sendError(reply, errorAnswer(new ApiError("not_found"))));
  const limits = new RateLimits(config);
  const shared = shareLimits(limits, config, log);
  const addresses = new AddressLimits(limits, config);
  const context: GatewayContext = { app, operations: [], principals, limits, addresses, keyUsed: keyUses.used };
  let draining = false;
  // Callers leave for another replica with their next answer; none finds its connection closed under a request.
  app.addHook("onSend", async (_request, reply) => {
    if (draining) reply.header("connection", "close");
  });
  addRoutes(context, peers, config, log, () => draining);
  await app.listen({ port: config.PORT, host: config.HOST });
  return {
    port: portOf(app),
    ready: async () => !draining,
    stop: async ({ lameDuckMs, graceMs } = drainAtOnce) => {
      draining = true;
      await pause(lameDuckMs);
      const limit = setTimeout(() => app.server.closeAllConnections(), graceMs);
      await app.close();
      clearTimeout(limit);
      await keyUses.close();
      await requests.close();
      await shared.close();
      peers.close();
      await bus.close();
    },
  };
}

function createApp(config: GatewayConfig): FastifyInstance {
  // For answers that no hook sees.
  const always = transportSecurity(config);
  const broken = new BrokenConnections(always);
  const app = Fastify({
    logger: false,
    bodyLimit: bodyMaxBytes,
    requestTimeout: config.REQUEST_SECONDS * 1_000,
    http: {
      headersTimeout: config.REQUEST_HEADERS_SECONDS * 1_000,
      connectionsCheckingInterval: lateCheckMs,
      // Node's own refusal has no envelope; `refuseAtOnce` has.
      requireHostHeader: false,
    },
    keepAliveTimeout: keepAliveMs,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    ...trustedProxies(config),
    routerOptions: { querystringParser: parseQuery },
    // Bodies are taken as they are: no conversion of types, no silent removal; every wrong field is told at once.
    ajv: {
      // `verbose`: an error knows its schema, which has the names that could have been meant.
      customOptions: {
        ...{ coerceTypes: false, removeAdditional: false, useDefaults: true, allErrors: true, verbose: true },
      },
      // The same rule as the services', so that none of them refuses what was let in here.
      onCreate: (ajv) => {
        ajv.addFormat("email", (text) => buyerEmail(text) !== undefined);
        for (const [name, fits] of Object.entries(ownFormats)) ajv.addFormat(name, fits);
      },
    },
    // A path that cannot be decoded is the path of nothing. No hook has run for it.
    frameworkErrors: (_error, { url }, reply) => {
      reply.headers({ ...always, "request-id": newId("request") });
      // Buyers' links are damaged on their way; the page says so in words.
      if (url.startsWith("/c/")) void reply.redirect(`/c/${sessionIdIn(url)}`);
      else void sendError(reply, errorAnswer(new ApiError("not_found")));
    },
    clientErrorHandler: broken.end,
  });
  broken.follow(app.server);
  app.server.on("checkExpectation", refuseExpectation(always));
  takeEveryMethod(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(jsonType, { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
    assertJsonText(request);
    return parseBody(body);
  });
  return app;
}

/** What is refused whatever the route, before anything is looked up or read. */
function refuseAtOnce(app: FastifyInstance): void {
  app.addHook("onRequest", async (request) => {
    // Two hosts are read differently by the proxies before us; only HTTP/1.0 knows requests without one.
    const hosts = headerCount(request, "host");
    if (hosts > 1 || (hosts === 0 && request.raw.httpVersion !== "1.0")) {
      throw new ApiError("invalid_body", { violations: [{ field: "Host", problem: "must be given once" }] });
    }
    if (request.is404) throw new ApiError("not_found");
  });
}

function addRoutes(
  context: GatewayContext,
  peers: Peers,
  config: GatewayConfig,
  log: Log,
  draining: () => boolean,
): void {
  openToBrowsers(context, buyerPaths);
  addOperations(context, peers);
  closeOtherMethods(context, buyerPaths);
  documentRoutes(context, config);
  hostedPageRoutes(context, peers, config);
  pageReportRoutes(context, log);
  browserScriptRoutes(context.app, releaseVersion());
  processorRoutes(context, peers);
  securityContactRoute(context.app, config);
  healthRoutes(context.app, peers, draining);
}

/** The operations of docs/contract.md, in the order of the document. */
export function addOperations(context: GatewayContext, peers: Peers): void {
  checkoutSessionRoutes(context, peers);
  checkoutRoutes(context, peers);
  paymentRoutes(context, peers);
  refundRoutes(context, peers);
  disputeRoutes(context, peers);
  disputeFileRoutes(context, peers);
  webhookEndpointRoutes(context, peers);
  webhookDeliveryRoutes(context, peers);
  merchantRoutes(context, peers);
  connectorRoutes(context, peers);
  apiKeyRoutes(context, peers);
  eventRoutes(context, peers);
  logRoutes(context, peers);
  onboardingRoutes(context, peers);
}

/** Keys that were revoked, and keys of merchants that changed, are asked for again. */
function forgetChangedKeys(bus: EventBus, principals: Principals): void {
  const onGap = () => principals.clear();
  bus.listen({ ...heardEvents.apiKeys, onEvent: (event) => principals.dropKey(event.objectId), onGap });
  bus.listen({
    ...heardEvents.merchants,
    onEvent: (event) => principals.dropMerchant(event.merchantId || event.objectId),
    onGap,
  });
}

function portOf(app: FastifyInstance): number {
  const address: AddressInfo | string | null = app.server.address();
  if (address === null || typeof address === "string") throw new Error("the gateway has no port");
  return address.port;
}
