import assert from "node:assert/strict";
import { fastify } from "fastify";
import { suite } from "../../../test/harness/suite.ts";
import { fileRoutes, previewFiles } from "./files.ts";

const test = suite("console files");

test("appends the branding to the preview's style sheet", async () => {
  const app = fastify();
  fileRoutes(app);
  const { path } = previewFiles().style;
  const plain = await app.inject(path);
  const shown = await app.inject(`${path}?accent=b91c5c&background=gradient`);
  assert.equal(shown.statusCode, 200);
  assert.ok(plain.body.length > 5_000);
  assert.ok(shown.body.startsWith(`${plain.body}\n:root{--accent:#b91c5c;`), shown.body.slice(0, 300));
});

test.run();
