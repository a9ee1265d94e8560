// Starts the gateway, which serves the public JSON contract in front of the services. It keeps only caches and rate
// limits, so any number of replicas may run.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { brokerOf } from "#platform/events/connection.ts";
import { EventBus } from "#platform/events/event-bus.ts";
import { ownHost } from "#platform/process/host.ts";
import { createLog, type Log } from "#platform/telemetry/log.ts";
import { buyerEmail } from "#platform/values/email.ts";
import { newId } from "#platform/values/id.ts";
import { releaseVersion } from "#platform/values/release.ts";
import { liveSubscriptions } from "../services/services.ts";
import { type GatewayContext, headerCount } from "./auth/auth.ts";
import { KeyUses } from "./auth/key-uses.ts";
import { ApiError, errorAnswer } from "./failures.ts";
import { guardBodies } from "./http/body/body-guard.ts";
import { bodyMaxBytes, parseBody } from "./http/body/json-body.ts";
import { assertJsonText, jsonType } from "./http/body/raw-body.ts";
import { errorHandler, sendError } from "./http/error-handler.ts";
import { refuseExpectation } from "./http/http-parser-error.ts";
import { ownFormats } from "./http/own-formats.ts";
import { createServer, type RunningServer, transportSecurity } from "./http/server.ts";
import { AddressLimits } from "./limits/address-limits.ts";
import { RateLimits } from "./limits/rate-limits.ts";
import { shareLimits } from "./limits/rate-share.ts";
import { ApiRequests } from "./log/api-requests.ts";
import { closeOtherMethods, openToBrowsers, registerAllMethods } from "./methods.ts";
import { gatewayMetrics } from "./metrics.ts";
import { connectPeers, type Peers } from "./peers.ts";
import { Principals } from "./principal.ts";
import { parseQuery } from "./query.ts";
import { buyerPaths } from "./routes/checkout.ts";
import { healthRoutes } from "./routes/health.ts";
import { addOperations } from "./routes/operations.ts";
import { browserScriptRoutes } from "./routes/pages/browser-scripts.ts";
import { documentRoutes, securityContactRoute } from "./routes/pages/documents.ts";
import { hostedPageRoutes } from "./routes/pages/hosted-page.ts";
import { logoRoute } from "./routes/pages/logo.ts";
import { pageReportRoutes } from "./routes/pages/page-reports.ts";
import { processorRoutes } from "./routes/processors.ts";
import type { GatewayConfig } from "./settings.ts";
import { linkIdIn, sessionIdIn } from "./web/session-link.ts";

// Longer than the idle time of common load balancers (60 s): the balancer closes an idle connection first.
const keepAliveMs = 65_000;

export async function startGateway(config: GatewayConfig, hostProcess = ownHost): Promise<RunningServer> {
  const log = createLog("gateway", config.LOG_LEVEL);
  const peers = connectPeers(config, hostProcess);
  const { registry, tracing } = hostProcess;
  const metrics = gatewayMetrics(registry);
  const bus = new EventBus({
    broker: brokerOf(config),
    keys: config.EVENT_KEYS_FILE,
    namespace: config.NATS_NAMESPACE,
    name: "gateway",
    log,
    registry,
    tracer: tracing?.tracer,
  });
  const principals = new Principals(peers.apiKeys, () => bus.isUpToDate);
  forgetChangedKeys(bus, principals);
  const keyUses = new KeyUses(peers.apiKeys, log);
  const server = createServer(config, log, hostProcess, serverOptions(config));
  const { app } = server;
  app.server.on("checkExpectation", refuseExpectation(transportSecurity(config)));
  registerAllMethods(app);
  acceptOnlyJson(app);
  refuseEarly(app);
  guardBodies(app, () => new ApiError("service_unavailable"));
  const requests = new ApiRequests(peers.audit, log, metrics);
  requests.follow(app);
  const operations: GatewayContext["operations"] = [];
  app.setErrorHandler(errorHandler(log, () => operations.map(({ path }) => path)));
  app.setNotFoundHandler(async () => {
    throw new ApiError("not_found");
  });
  const limits = new RateLimits(config);
  const shared = shareLimits(limits, config, log);
  const addresses = new AddressLimits(limits, config);
  const recordKeyUse = keyUses.record;
  const context: GatewayContext = { app, metrics, operations, principals, limits, addresses, recordKeyUse };
  addRoutes(context, peers, config, log, server.isDraining);
  return await server.listen(config, async () => {
    await keyUses.close();
    await requests.close();
    await shared.close();
    peers.close();
    await bus.close();
  });
}

function serverOptions(config: GatewayConfig): Parameters<typeof createServer>[3] {
  return {
    bodyLimit: bodyMaxBytes,
    requestTimeout: config.REQUEST_SECONDS * 1_000,
    http: {
      headersTimeout: config.REQUEST_HEADERS_SECONDS * 1_000,
      // Node's own refusal has no envelope; `refuseEarly` sends one.
      requireHostHeader: false,
    },
    keepAliveTimeout: keepAliveMs,
    routerOptions: { querystringParser: parseQuery },
    // No type conversion and no silent removal; all wrong fields are reported together.
    ajv: {
      // `verbose`: an error carries its schema, whose property names are the candidates for "did you mean".
      customOptions: {
        ...{ coerceTypes: false, removeAdditional: false, useDefaults: true, allErrors: true, verbose: true },
      },
      // The services use the same rule, so they accept every address that passes here.
      onCreate: (ajv) => {
        ajv.addFormat("email", (text) => buyerEmail(text) !== undefined);
        for (const [name, fits] of Object.entries(ownFormats)) ajv.addFormat(name, fits);
      },
    },
    // An undecodable path is answered as an unknown one. No hook has run yet, so the headers are set here.
    frameworkErrors: (_error, { url }, reply) => {
      reply.headers({ ...transportSecurity(config), "request-id": newId("request") });
      // E-mail programs damage payment links; the page explains it.
      if (url.startsWith("/c/")) void reply.redirect(`/c/${sessionIdIn(url)}`);
      else if (url.startsWith("/l/")) void reply.redirect(`/l/${linkIdIn(url)}`);
      else void sendError(reply, errorAnswer(new ApiError("not_found")));
    },
  };
}

function acceptOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(jsonType, { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
    assertJsonText(request);
    return parseBody(body);
  });
}

/** Refuses bad Host headers and unknown paths before any lookup or body. */
function refuseEarly(app: FastifyInstance): void {
  app.addHook("onRequest", async (request) => {
    // Proxies read a duplicate Host differently; only HTTP/1.0 allows a request without one.
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
  logoRoute(context, peers);
  browserScriptRoutes(context.app, releaseVersion());
  processorRoutes(context, peers);
  securityContactRoute(context.app, config);
  healthRoutes(context.app, peers, draining);
}

/** Drops cached keys that were revoked, and cached keys of merchants that changed. */
function forgetChangedKeys(bus: EventBus, principals: Principals): void {
  const onGap = () => principals.clear();
  bus.listen({ ...liveSubscriptions.apiKeys, onEvent: (event) => principals.dropKey(event.objectId), onGap });
  bus.listen({
    ...liveSubscriptions.merchants,
    onEvent: (event) => principals.dropMerchant(event.merchantId || event.objectId),
    onGap,
  });
}
