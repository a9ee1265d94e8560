// Serves /openapi.json and /openapi.yaml from the registered operations, the static pages at / and /docs
// (deploy/generate/docs.ts; a local stack builds them after its start), and /.well-known/security.txt.
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { stringify } from "yaml";
import { releaseVersion } from "#platform/values/release.ts";
import { openApi } from "../../openapi/openapi.ts";
import type { OperationRegistry } from "../../operation.ts";
import type { GatewayConfig } from "../../settings.ts";
import { type ServedFile, sendFile, servedFile } from "../../web/served-file.ts";

// The content changes with a release only.
const cacheHeader = "public, max-age=300";
const dist = join(import.meta.dirname, "../../site/dist");

// Scripts, styles, images and requests of our own origin only; nothing inline and no forms.
const pagePolicy = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "connect-src"].map((kind) => `${kind} 'self'`),
  ...["base-uri", "form-action", "frame-ancestors"].map((kind) => `${kind} 'none'`),
].join("; ");
const pageHeaders = {
  "content-security-policy": pagePolicy,
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
} as const;

/** Call after the last operation. */
export function documentRoutes(
  { app, operations }: OperationRegistry,
  config: Pick<GatewayConfig, "LOCAL_STACK">,
): void {
  const document = openApi(operations, releaseVersion());
  const yaml = () => stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 });
  serve(app, "/openapi.json", "openapi.json", () => JSON.stringify(document));
  serve(app, "/openapi.yaml", "openapi.yaml", yaml);
  // Decides whether "Try it" asks for a sandbox key.
  serve(app, "/docs/stack.json", "stack.json", () => JSON.stringify({ is_local: config.LOCAL_STACK === "on" }));
  pageRoutes(app, dist);
}

/** @param folder of the pages; it is created in one step */
export function pageRoutes(app: FastifyInstance, folder: string): void {
  let site: Site | undefined;
  const sendPage = async (request: FastifyRequest, reply: FastifyReply, path: string) => {
    site ??= readSite(folder);
    if (!site) return sendBuilding(reply);
    const { files, missing } = site;
    const page = files.get(path) ?? files.get(`${path}.html`);
    if (!page) reply.code(404);
    return sendFile(request, reply.headers(pageHeaders), page ?? missing, cacheHeader);
  };
  app.get("/", (request, reply) => sendPage(request, reply, "index.html"));
  app.get("/docs", (request, reply) => sendPage(request, reply, "docs"));
  // A trailing slash means the same page.
  app.get<{ Params: { "*": string } }>("/docs/*", (request, reply) =>
    sendPage(request, reply, `docs/${request.params["*"]}`.replace(/\/$/, "")),
  );
}

interface Site {
  /** By path in the folder. */
  readonly files: ReadonlyMap<string, ServedFile>;
  readonly missing: ServedFile;
}

/** Undefined while the folder is missing. */
function readSite(folder: string): Site | undefined {
  if (!existsSync(folder)) return undefined;
  const paths = globSync("**/*.{html,css,js,json,svg}", { cwd: folder });
  const files = new Map(paths.map((path) => [path, servedFile(path, readFileSync(join(folder, path)))] as const));
  const missing = files.get("docs/404.html");
  if (!missing) throw new Error(`${folder} is incomplete: run npm run generate -- docs`);
  return { files, missing };
}

const retrySeconds = 3;
const buildingStyle = `:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif }
body { margin: 20vh auto; max-width: 32rem; padding: 0 1.5rem }
h1 { font-size: 1.5rem }`;
const buildingPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${retrySeconds}">
<title>Tollbooth docs</title>
<style>${buildingStyle}</style>
<h1>Tollbooth docs</h1>
<p>The documentation is being built. Reload in a few seconds.</p>
</html>
`;
const buildingPolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(buildingStyle).digest("base64")}'`;

function sendBuilding(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .headers({ ...pageHeaders, "content-security-policy": buildingPolicy, "cache-control": "no-store" })
    .header("retry-after", retrySeconds)
    .type("text/html; charset=utf-8")
    .send(buildingPage);
}

function serve(app: FastifyInstance, path: string, name: string, write: () => string): void {
  let file: ServedFile | undefined;
  app.get(path, async (request, reply) => {
    file ??= servedFile(name, write());
    return sendFile(request, reply, file, cacheHeader);
  });
}

/** Adds the route if contact and expiry are set: RFC 9116 requires both. */
export function securityContactRoute(
  app: FastifyInstance,
  {
    SECURITY_CONTACT: contact,
    SECURITY_EXPIRES: expires,
  }: Pick<GatewayConfig, "SECURITY_CONTACT" | "SECURITY_EXPIRES">,
): void {
  if (contact === undefined || expires === undefined) return;
  const text = `Contact: ${contact}\nExpires: ${expires}\n`;
  app.get("/.well-known/security.txt", async (_request, reply) => reply.type("text/plain; charset=utf-8").send(text));
}
