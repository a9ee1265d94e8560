// The gateway: the public JSON contract in front of the services. It keeps no state of its own but caches and rate limits, and
// runs as any number of replicas.
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { brokerOf } from "#platform/broker-connection.ts";
import { type Drain, drainAtOnce } from "#platform/drain.ts";
import { isEmail } from "#platform/email.ts";
import { EventBus } from "#platform/event-bus.ts";
import { newId } from "#platform/id.ts";
import { createLog, type Log } from "#platform/log.ts";
import { heardEvents } from "#platform/streams.ts";
import { AddressLimits } from "./address-limits.ts";
import { ApiRequests } from "./api-requests.ts";
import { type Door, headerCount } from "./auth.ts";
import { guardBodies } from "./body-guard.ts";
import { displayFormats } from "./display-text.ts";
import { errorHandler, sendError } from "./error-handler.ts";
import { ApiError, errorAnswer } from "./failures.ts";
import { badRequestText } from "./http-parser-error.ts";
import { bodyMaxBytes, parseBody } from "./json-body.ts";
import { KeyUses } from "./key-uses.ts";
import { closeOtherMethods, openToBrowsers } from "./methods.ts";
import { connectPeers, type Peers } from "./peers.ts";
import { Principals } from "./principal.ts";
import { parseQuery } from "./query-text.ts";
import { RateLimits } from "./rate-limits.ts";
import { shareLimits } from "./rate-share.ts";
import { releaseVersion } from "./release.ts";
import { followRequests } from "./request-log.ts";
import { apiKeyRoutes } from "./routes/api-keys.ts";
import { browserScriptRoutes } from "./routes/browser-scripts.ts";
import { buyerPaths, checkoutRoutes } from "./routes/checkout.ts";
import { checkoutSessionRoutes } from "./routes/checkout-sessions.ts";
import { connectorRoutes } from "./routes/connectors.ts";
import { documentRoutes } from "./routes/documents.ts";
import { healthRoutes } from "./routes/health.ts";
import { hostedPageRoutes } from "./routes/hosted-page.ts";
import { merchantRoutes } from "./routes/merchant.ts";
import { onboardingRoutes } from "./routes/onboarding.ts";
import { pageReportRoutes } from "./routes/page-reports.ts";
import { paymentRoutes } from "./routes/payments.ts";
import { processorRoutes } from "./routes/processors.ts";
import { refundRoutes } from "./routes/refunds.ts";
import { securityContactRoute } from "./routes/security-contact.ts";
import { webhookDeliveryRoutes } from "./routes/webhook-deliveries.ts";
import { webhookEndpointRoutes } from "./routes/webhook-endpoints.ts";
import type { GatewayConfig } from "./settings.ts";
import { secureTransport, transportSecurity } from "./transport-security.ts";
import { closeGently } from "./unread-body.ts";

// How often Node looks for requests that are late: they end at most this much after their time.
const lateCheckMs = 1_000;
// Longer than the idle time of common load balancers (60 s), so that it is they who close.
const keepAliveMs = 65_000;
// JSON is UTF-8 (RFC 8259); another charset is another media type.
const jsonType = /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i;

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
  const principals = new Principals(peers.apiKeys, () => bus.hearing);
  forgetChangedKeys(bus, principals);
  const keyUses = new KeyUses(peers.apiKeys, log);
  const app = createApp(config);
  secureTransport(app, config);
  followRequests(app, log);
  refuseAtOnce(app);
  guardBodies(app);
  const requests = new ApiRequests(peers.audit, log);
  requests.follow(app);
  app.setErrorHandler(errorHandler(log));
  app.setNotFoundHandler(async (_request, reply) => sendError(reply, errorAnswer(new ApiError("not_found"))));
  const limits = new RateLimits(config);
  const shared = shareLimits(limits, config, log);
  const addresses = new AddressLimits(limits, config);
  const door: Door = { app, operations: [], principals, limits, addresses, keyUsed: keyUses.used };
  let draining = false;
  // Callers leave for another replica with their next answer; none finds its connection closed under a request.
  app.addHook("onSend", async (_request, reply) => {
    if (draining) reply.header("connection", "close");
  });
  addRoutes(door, peers, config, log, () => draining);
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
      customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: true, allErrors: true },
      // The same rule as the services', so that none of them refuses what was let in here.
      onCreate: (ajv) => {
        ajv.addFormat("email", isEmail);
        for (const [name, fits] of Object.entries(displayFormats)) ajv.addFormat(name, fits);
      },
    },
    // A path that cannot be decoded is the path of nothing. No hook has run for it.
    frameworkErrors: (_error, _request, reply) => {
      void sendError(
        reply.headers({ ...always, "request-id": newId("request") }),
        errorAnswer(new ApiError("not_found")),
      );
    },
    clientErrorHandler: (error, socket) => {
      if (socket.writable) closeGently(socket, badRequestText(error, always));
      else socket.destroy();
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(jsonType, { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
    if (request.headers["content-encoding"] !== undefined) throw new ApiError("unsupported_media_type");
    return parseBody(body);
  });
  return app;
}

/** A number says how far from us a proxy may stand whose word counts; Fastify itself takes it for nobody's. */
function trustedProxies({ TRUST_PROXY: trusted }: Pick<GatewayConfig, "TRUST_PROXY">) {
  if (trusted === undefined) return {};
  return { trustProxy: typeof trusted === "string" ? trusted : (_address: string, hop: number) => hop < trusted };
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

function addRoutes(door: Door, peers: Peers, config: GatewayConfig, log: Log, draining: () => boolean): void {
  openToBrowsers(door, buyerPaths);
  checkoutSessionRoutes(door, peers);
  checkoutRoutes(door, peers);
  paymentRoutes(door, peers);
  refundRoutes(door, peers);
  webhookEndpointRoutes(door, peers);
  webhookDeliveryRoutes(door, peers);
  merchantRoutes(door, peers);
  connectorRoutes(door, peers);
  apiKeyRoutes(door, peers);
  onboardingRoutes(door, peers);
  closeOtherMethods(door, buyerPaths);
  documentRoutes(door);
  hostedPageRoutes(door, peers, config);
  pageReportRoutes(door, log);
  browserScriptRoutes(door.app, releaseVersion());
  processorRoutes(door, peers);
  securityContactRoute(door.app, config);
  healthRoutes(door.app, peers, draining);
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
