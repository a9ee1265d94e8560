// The API's description: /openapi.json, /openapi.yaml and the reference page /docs. Made once, at start, from the
// operations that are served.
import { readFileSync } from "node:fs";
import { stringify } from "yaml";
import { releaseVersion } from "#platform/values/release.ts";
import { docsPage } from "../../docs/page.ts";
import { openApi } from "../../openapi/openapi.ts";
import type { OperationRegistry } from "../../operation.ts";
import { type ServedFile, sendFile, servedFile } from "../../web/served-file.ts";

// The document changes with a release only.
const cacheHeader = "public, max-age=300";

/** Adds the routes; after the last operation. */
export function documentRoutes({ app, operations }: OperationRegistry): void {
  const document = openApi(operations, releaseVersion());
  const yaml = stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 });
  serve(app, "/openapi.json", servedFile("openapi.json", JSON.stringify(document)));
  serve(app, "/openapi.yaml", servedFile("openapi.yaml", yaml));
  referencePage(app, docsPage(operations));
}

// The page has no script and loads one style sheet.
const pagePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function referencePage(app: OperationRegistry["app"], page: string): void {
  const style = readFileSync(new URL("../../docs/style.css", import.meta.url), "utf8");
  serve(app, "/docs", servedFile("docs.html", page), {
    "content-security-policy": pagePolicy,
    "referrer-policy": "no-referrer",
  });
  serve(app, "/docs/style.css", servedFile("style.css", style));
}

function serve(
  app: OperationRegistry["app"],
  path: string,
  file: ServedFile,
  headers: Readonly<Record<string, string>> = {},
): void {
  app.get(path, async (request, reply) => sendFile(request, reply.headers(headers), file, cacheHeader));
}
