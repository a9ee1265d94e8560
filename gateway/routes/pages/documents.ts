// The API's description: /openapi.json, /openapi.yaml and the reference page /docs. Made once, at start, from the
// operations that are served.
import { readFileSync } from "node:fs";
import { stringify } from "yaml";
import { releaseVersion } from "#platform/values/release.ts";
import { docsPage } from "../../docs/page.ts";
import { openApi } from "../../openapi/openapi.ts";
import type { OperationRegistry } from "../../operation.ts";

// The document changes with a release only.
const cacheHeader = "public, max-age=300";

/** Adds the routes; after the last operation. */
export function documentRoutes({ app, operations }: OperationRegistry): void {
  const document = openApi(operations, releaseVersion());
  const json = JSON.stringify(document);
  const yaml = stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 });
  app.get("/openapi.json", async (_request, reply) =>
    reply.header("cache-control", cacheHeader).type("application/json; charset=utf-8").send(json),
  );
  app.get("/openapi.yaml", async (_request, reply) =>
    reply.header("cache-control", cacheHeader).type("application/yaml; charset=utf-8").send(yaml),
  );
  referencePage(app, docsPage(operations));
}

// The page has no script and loads one style sheet.
const pagePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function referencePage(app: OperationRegistry["app"], page: string): void {
  const style = readFileSync(new URL("../../docs/style.css", import.meta.url), "utf8");
  app.get("/docs", async (_request, reply) =>
    reply
      .header("cache-control", cacheHeader)
      .header("content-security-policy", pagePolicy)
      .header("referrer-policy", "no-referrer")
      .type("text/html; charset=utf-8")
      .send(page),
  );
  app.get("/docs/style.css", async (_request, reply) =>
    reply.header("cache-control", cacheHeader).type("text/css; charset=utf-8").send(style),
  );
}
