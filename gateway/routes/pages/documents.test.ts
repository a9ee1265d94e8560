import assert from "node:assert/strict";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import Fastify from "fastify";
import { suite } from "../../../test/harness/suite.ts";
import { tempDir } from "../../../test/harness/temp-dir.ts";
import { pageRoutes } from "./documents.ts";

const test = suite("documents");

test("answers 503 with an explanation until the pages are built, then serves them without a restart", async () => {
  const folder = await tempDir("documents");
  const app = Fastify();
  try {
    pageRoutes(app, join(folder, "dist"));
    for (const url of ["/", "/docs", "/docs/webhooks", "/docs/"]) {
      const { statusCode, headers, body } = await app.inject(url);
      assert.equal(statusCode, 503, url);
      assert.equal(headers["retry-after"], "3");
      assert.equal(headers["cache-control"], "no-store");
      assert.match(String(headers["content-security-policy"]), /^default-src 'none'; style-src 'sha256-/);
      assert.match(body, /The documentation is being built. Reload in a few seconds/);
    }
    await mkdir(join(folder, "made/docs"), { recursive: true });
    for (const [path, text] of [
      ["index.html", "landing"],
      ["docs.html", "home"],
      ["docs/404.html", "missing"],
      ["docs/webhooks.html", "webhooks"],
    ] as const)
      await writeFile(join(folder, "made", path), text);
    await rename(join(folder, "made"), join(folder, "dist"));
    for (const [url, status, text] of [
      ["/", 200, "landing"],
      ["/docs/", 200, "home"],
      ["/docs/webhooks", 200, "webhooks"],
      ["/docs/nope", 404, "missing"],
    ] as const) {
      const { statusCode, body } = await app.inject(url);
      assert.deepEqual([statusCode, body], [status, text], url);
    }
  } finally {
    await app.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test.run();
