// The hosted checkout page, `/c/{session id}#{session secret}`. The fragment never reaches us, so the server's part knows the id alone:
// an unknown one gets the same page, whose script then says that the link is not valid.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyRequest } from "fastify";
import { callContext } from "#platform/call-context.ts";
import { Failure } from "#platform/failure.ts";
import { isId } from "#platform/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Door } from "../auth.ts";
import { ApiError } from "../failures.ts";
import type { Peers } from "../peers.ts";
import { pageHeaders } from "../web/page-headers.ts";
import { foreverCache, sendFile, servedFile } from "../web/served-file.ts";
import { pageShell } from "../web/shell.ts";
import { surfaceHosts } from "../web/surface-hosts.ts";
import { acceptedLanguages, chooseLanguage } from "../web/texts/languages.ts";

const dist = join(import.meta.dirname, "../web/dist/page");
const filesPath = "/c/files";

interface PageAddress {
  readonly Params: { readonly id: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
}

/** Adds the page and its files. */
export function hostedPageRoutes(door: Pick<Door, "app" | "addresses">, { checkout }: Pick<Peers, "checkout">): void {
  const { app, addresses } = door;
  const files = new Map(
    globSync("*", { cwd: dist }).map((name) => [name, servedFile(name, readFileSync(join(dist, name), "utf8"))]),
  );
  const addressOf = (ending: string) => `${filesPath}/${[...files.keys()].find((name) => name.endsWith(ending))}`;
  const [script, style] = [addressOf(".js"), addressOf(".css")];

  app.get<{ Params: { name: string } }>(`${filesPath}/:name`, async (request, reply) => {
    const file = files.get(request.params.name);
    if (!file) throw new ApiError("not_found");
    return sendFile(request, reply, file, foreverCache);
  });

  app.get<PageAddress>("/c/:id", async (request, reply) => {
    const sessionId = request.params.id;
    const lookUp = () => describe(checkout, request, sessionId);
    const page = await addresses.allow("page", request, reply, lookUp).catch(pageOfUnknown);
    const asked = request.query.locale;
    const language = chooseLanguage([
      ...(typeof asked === "string" ? [asked] : []),
      page.locale,
      ...acceptedLanguages(request.headers["accept-language"]),
    ]);
    const isTest = page.environment === Environment.SANDBOX;
    return await reply
      .headers(pageHeaders(surfaceHosts(page)))
      .header("vary", "accept-language")
      .type("text/html; charset=utf-8")
      .send(pageShell({ language, isTest, script, style }));
  });
}

const unknownPage = {
  environment: Environment.UNSPECIFIED,
  locale: "",
  connector: "",
  scriptOrigin: "",
  frameOrigin: "",
};

/** @throws Failure. */
async function describe(checkout: Peers["checkout"], request: FastifyRequest, sessionId: string) {
  if (!isId("session", sessionId)) throw new Failure("NOT_FOUND");
  return await callContext.run(request.call, () => checkout.describePage({ sessionId }));
}

/** A service that is away leaves the page without a surface; its script says so and offers to try again. */
function pageOfUnknown(error: unknown): typeof unknownPage {
  if (error instanceof Failure) return unknownPage;
  throw error;
}
