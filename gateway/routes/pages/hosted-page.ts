// The hosted checkout page, `/c/{session id}#{session secret}`. The fragment never reaches us, so the server's part
// knows the id alone: an unknown one gets the same page under the same policy, whose script then says that the link is
// not valid. Only the language is looked up.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { FastifyRequest } from "fastify";
import { callContext } from "#platform/values/call-context.ts";
import { Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { GatewayContext } from "../../auth/auth.ts";
import { ApiError } from "../../failures.ts";
import type { Peers } from "../../peers.ts";
import type { GatewayConfig } from "../../settings.ts";
import { pageHeaders } from "../../web/page-headers.ts";
import { foreverCache, sendFile, servedFile } from "../../web/served-file.ts";
import { pageShell } from "../../web/shell.ts";
import { surfaceHosts } from "../../web/surface-hosts.ts";
import { acceptedLanguages, chooseLanguage } from "../../web/texts/languages.ts";

const dist = join(import.meta.dirname, "../../web/dist/page");
const filesPath = "/c/files";

interface PageAddress {
  readonly Params: { readonly id: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
}

/** Adds the page and its files. */
export function hostedPageRoutes(
  context: Pick<GatewayContext, "app" | "addresses">,
  { checkout }: Pick<Peers, "checkout">,
  { SIMULATOR_PUBLIC_URL: simulator }: Pick<GatewayConfig, "SIMULATOR_PUBLIC_URL">,
): void {
  const { app, addresses } = context;
  const files = new Map(
    globSync("*", { cwd: dist }).map((name) => [name, servedFile(name, readFileSync(join(dist, name), "utf8"))]),
  );
  const addressOf = (ending: string) => `${filesPath}/${[...files.keys()].find((name) => name.endsWith(ending))}`;
  const [script, style] = [addressOf(".js"), addressOf(".css")];
  const integrity = files.get(basename(script))?.integrity ?? "";
  const headers = pageHeaders(surfaceHosts(simulator === undefined ? [] : [new URL(simulator).origin]));

  app.get<{ Params: { name: string } }>(`${filesPath}/:name`, async (request, reply) => {
    const file = files.get(request.params.name);
    if (!file) throw new ApiError("not_found");
    return sendFile(request, reply, file, foreverCache);
  });

  app.get<PageAddress>("/c/:id", async (request, reply) => {
    const sessionId = request.params.id;
    const lookUp = () => localeOf(checkout, request, sessionId);
    const locale = await addresses.allow("page", request, reply, lookUp).catch(noLocale);
    const asked = request.query.locale;
    const language = chooseLanguage([
      ...(typeof asked === "string" ? [asked] : []),
      locale,
      ...acceptedLanguages(request.headers["accept-language"]),
    ]);
    return await reply
      .headers(headers)
      .header("vary", "accept-language")
      .type("text/html; charset=utf-8")
      .send(pageShell({ language, script, integrity, style }));
  });
}

/** @throws Failure. */
async function localeOf(checkout: Peers["checkout"], request: FastifyRequest, sessionId: string): Promise<string> {
  if (!isId("session", sessionId)) throw new Failure("NOT_FOUND");
  return (await callContext.run(request.call, () => checkout.describePage({ sessionId }))).locale;
}

/** An unknown session, or a service that is away: the page's script says so. */
function noLocale(error: unknown): string {
  if (error instanceof Failure) return "";
  throw error;
}
