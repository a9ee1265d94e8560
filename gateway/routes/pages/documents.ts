// The API's description at /openapi.json and /openapi.yaml, from the operations that are served, each written when it
// is first asked for; and what people read at / and /docs: static pages, which were made before the release
// (deploy/generate/docs.ts).
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { stringify } from "yaml";
import { releaseVersion } from "#platform/values/release.ts";
import { openApi } from "../../openapi/openapi.ts";
import type { OperationRegistry } from "../../operation.ts";
import type { GatewayConfig } from "../../settings.ts";
import { type ServedFile, sendFile, servedFile } from "../../web/served-file.ts";

// What is served changes with a release only.
const cacheHeader = "public, max-age=300";
const dist = join(import.meta.dirname, "../../site/dist");

// Nothing inline, nothing from elsewhere, no form that is sent: scripts, styles, pictures and requests of our own.
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

/** Adds the routes; after the last operation. */
export function documentRoutes(
  { app, operations }: OperationRegistry,
  config: Pick<GatewayConfig, "LOCAL_STACK">,
): void {
  const document = openApi(operations, releaseVersion());
  const yaml = () => stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 });
  serve(app, "/openapi.json", "openapi.json", () => JSON.stringify(document));
  serve(app, "/openapi.yaml", "openapi.yaml", yaml);
  // Whether "Try it" may ask for a sandbox key.
  serve(app, "/docs/stack.json", "stack.json", () => JSON.stringify({ is_local: config.LOCAL_STACK === "on" }));
  pageRoutes(app);
}

function pageRoutes(app: FastifyInstance): void {
  const files = readSite();
  const missing = files.get("docs/404.html");
  if (!missing) throw new Error("gateway/site/dist is not whole: npm run generate -- docs");
  const landing = files.get("index.html") ?? missing;
  app.get("/", async (request, reply) => sendFile(request, reply.headers(pageHeaders), landing, cacheHeader));
  app.get("/docs", async (request, reply) =>
    sendFile(request, reply.headers(pageHeaders), files.get("docs.html") ?? missing, cacheHeader),
  );
  app.get<{ Params: { "*": string } }>("/docs/*", async (request, reply) => {
    // A slash at the end means the same page.
    const place = `docs/${request.params["*"]}`.replace(/\/$/, "");
    const found = files.get(place) ?? files.get(`${place}.html`);
    if (!found) reply.code(404);
    return sendFile(request, reply.headers(pageHeaders), found ?? missing, cacheHeader);
  });
}

/** By the path under the folder. Nothing is read from the disk when somebody asks. */
function readSite(): ReadonlyMap<string, ServedFile> {
  const paths = globSync("**/*.{html,css,js,json,svg}", { cwd: dist });
  return new Map(paths.map((path) => [path, servedFile(path, readFileSync(join(dist, path)))] as const));
}

function serve(app: FastifyInstance, path: string, name: string, write: () => string): void {
  let file: ServedFile | undefined;
  app.get(path, async (request, reply) => {
    file ??= servedFile(name, write());
    return sendFile(request, reply, file, cacheHeader);
  });
}
