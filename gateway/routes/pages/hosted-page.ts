// Serves the hosted checkout page, `/c/{session id}#{session secret}`. The server sees only the id, so it renders name,
// branding, language and support address, but no order data. An unknown id gets a plain page whose script explains it.
// Mail programs and chats append to links, so any path under `/c/` is this page.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { callContext } from "#platform/values/call-context.ts";
import { Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import { optionalField } from "../../../services/public-json/field.ts";
import type { GatewayContext } from "../../auth/auth.ts";
import { ApiError } from "../../failures.ts";
import type { Peers } from "../../peers.ts";
import type { GatewayConfig } from "../../settings.ts";
import { brandingCss } from "../../web/branding/branding-css.ts";
import { pageHeaders, surfaceHosts } from "../../web/page-headers.ts";
import { foreverCache, type ServedFile, sendFile, servedFile } from "../../web/served-file.ts";
import { referenceOf, sessionIdIn } from "../../web/session-link.ts";
import { type PageFiles, pageShell, type ShellMerchant } from "../../web/shell.ts";
import { isToken, languageOf, sendView, shellMerchant } from "./page-view.ts";
import { paymentLinkRoutes } from "./payment-link-page.ts";
import { mailReceiptRoute, receiptView } from "./receipt-page.ts";

const dist = join(import.meta.dirname, "../../web/dist/page");
const filesPath = "/c/files";

interface PageAddress {
  readonly Params: { readonly "*": string };
  readonly Querystring: Readonly<Record<string, unknown>>;
}

interface StateAddress {
  readonly Params: { readonly id: string };
  readonly Querystring: { readonly return?: unknown; readonly result?: unknown };
}

const brandedFilesMax = 500; // about 3 MB; rebuilding one takes a millisecond
const brandedQuality = 5;

export function hostedPageRoutes(
  context: Pick<GatewayContext, "app" | "addresses" | "limits">,
  peers: Pick<Peers, "checkout" | "links" | "brandingOf">,
  { SIMULATOR_PUBLIC_URL: simulator }: Pick<GatewayConfig, "SIMULATOR_PUBLIC_URL">,
): void {
  const { app, addresses } = context;
  const served = new Map(
    globSync("*", { cwd: dist }).map((name) => [name, servedFile(name, readFileSync(join(dist, name)))]),
  );
  const files = pageFiles(served);
  const brandedFiles = new LRUCache<string, ServedFile>({ max: brandedFilesMax });
  const headers = pageHeaders(surfaceHosts(simulator === undefined ? [] : [new URL(simulator).origin]));

  app.get<{ Params: { name: string }; Querystring: Readonly<Record<string, unknown>> }>(
    `${filesPath}/:name`,
    async (request, reply) => {
      const { name } = request.params;
      const file = served.get(name);
      if (!file) throw new ApiError("not_found");
      const css =
        name.endsWith(".css") && Object.keys(request.query).length > 0 ? brandingCss(request.query) : undefined;
      return sendFile(request, reply, css ? brandSheet(brandedFiles, name, file, css) : file, foreverCache);
    },
  );

  app.get<PageAddress>("/c/*", async (request, reply) => {
    const id = sessionIdIn(request.params["*"]);
    reply.headers(headers).header("vary", "accept-language").type("text/html; charset=utf-8");
    return await sendView(request, reply, { locale: "", files }, async () => {
      const receipt = await receiptView({ ...context, files }, peers, request, reply, id);
      if (receipt !== undefined) return receipt;
      const lookup = () => describe(peers, request, id);
      const { locale, merchant } = await addresses.allow("page", request, reply, lookup).catch(emptyView);
      const language = languageOf(request, locale);
      return pageShell({ language, merchant, reference: merchant && referenceOf({ id }), files });
    });
  });
  mailReceiptRoute(context, peers);
  paymentLinkRoutes({ ...context, files, headers }, peers);
  returnStateRoute(context, peers);
}

const resultMax = 8_192;

/**
 * Returns a session's status to the page of a buyer who returned from the processor without the session's secret. With
 * `result`, of a bank's page, the processor first finishes the attempt.
 */
function returnStateRoute(
  { app, addresses, limits }: Pick<GatewayContext, "app" | "addresses" | "limits">,
  { checkout }: Pick<Peers, "checkout">,
): void {
  app.get<StateAddress>("/c/:id/state", async (request, reply) => {
    const { id: sessionId } = request.params;
    const { return: returnToken, result = "" } = request.query;
    if (!isId("session", sessionId) || !isToken(returnToken)) throw new ApiError("not_found");
    const redirectResult = typeof result === "string" && result.length <= resultMax ? result : "";
    limits.takeForResolve(sessionId, returnToken, reply);
    const about = { sessionId, returnToken, redirectResult };
    const lookup = () => callContext.run(request.call, () => checkout.describeReturn(about));
    const { status, successUrl, cancelUrl } = await addresses.allow("secret", request, reply, lookup);
    return await reply
      .header("cache-control", "no-store")
      .send({ status, ...optionalField("success_url", successUrl), ...optionalField("cancel_url", cancelUrl) });
  });
}

function pageFiles(served: ReadonlyMap<string, ServedFile>): PageFiles {
  const addressOf = (ending: string) => `${filesPath}/${[...served.keys()].find((name) => name.endsWith(ending))}`;
  const pinned = (src: string) => ({ src, integrity: served.get(basename(src))?.integrity ?? "" });
  return { script: pinned(addressOf(".js")), code: pinned(addressOf(".mjs")), style: addressOf(".css") };
}

function brandSheet(
  brandedFiles: LRUCache<string, ServedFile>,
  name: string,
  { bytes }: ServedFile,
  css: string,
): ServedFile {
  const known = brandedFiles.get(css);
  if (known) return known;
  const file = servedFile(name, `${bytes.toString()}\n${css}`, brandedQuality);
  brandedFiles.set(css, file);
  return file;
}

interface PageView {
  readonly locale: string;
  readonly merchant: ShellMerchant | undefined;
}

/** @throws Failure. */
async function describe(
  { checkout, brandingOf }: Pick<Peers, "checkout" | "brandingOf">,
  request: FastifyRequest,
  sessionId: string,
): Promise<PageView> {
  if (!isId("session", sessionId)) throw new Failure("NOT_FOUND");
  return await callContext.run(request.call, async () => {
    const { locale, merchantId, environment } = await checkout.describePage({ sessionId });
    // A checkout service of the previous release sends no merchant id.
    if (merchantId === "") return { locale, merchant: undefined };
    const found = await brandingOf({ merchantId, environment }).catch(ignoreFailure);
    return { locale, merchant: found && shellMerchant(found) };
  });
}

/** Without the merchant service the page is plain until its script has read the session. */
function ignoreFailure(error: unknown): undefined {
  if (error instanceof Failure) return undefined;
  throw error;
}

/** For an unknown session or an unavailable service; the page's script explains it. */
function emptyView(error: unknown): PageView {
  if (error instanceof Failure) return { locale: "", merchant: undefined };
  throw error;
}
