// The pages that buyers see, and their files.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { FastifyInstance } from "fastify";
import { notFound } from "../failure.ts";
import { challengePage } from "../pages/challenge-page.ts";
import { formPage } from "../pages/form-page.ts";
import { receiptPage } from "../pages/receipt-page.ts";
import type { Processor } from "../processor.ts";
import { findIntentByReceipt } from "../store/intents.ts";

export function pageRoutes(app: FastifyInstance, processor: Processor): void {
  const form = formPage();
  app.get("/form/:id", async (_request, reply) => reply.headers(form.headers).send(form.html));

  const challenge = challengePage();
  app.get("/challenge/:id", async (_request, reply) => reply.headers(challenge.headers).send(challenge.html));

  app.get<{ Params: { token: string } }>("/receipts/:token", async (request, reply) => {
    const intent = await findIntentByReceipt(processor.db, request.params.token);
    if (!intent?.paid_at) throw notFound("receipt");
    const page = receiptPage(intent);
    return reply.headers(page.headers).send(page.html);
  });

  const assets = readAssets();
  app.get<{ Params: { name: string } }>("/assets/:name", async (request, reply) => {
    const asset = assets.get(request.params.name);
    if (!asset) throw notFound("file");
    reply.headers(asset.headers);
    return request.headers["if-none-match"] === asset.headers.ETag ? reply.code(304).send() : reply.send(asset.text);
  });
}

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** All files of pages/assets, in memory: they are few and small. */
function readAssets() {
  const folder = join(import.meta.dirname, "../pages/assets");
  const names = readdirSync(folder).filter((name) => extname(name) in types);
  return new Map(
    names.map((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      const headers = {
        "Content-Type": types[extname(name)] ?? "",
        "Cache-Control": "no-cache", // asked for again each time, and answered with 304
        ETag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`,
        "X-Content-Type-Options": "nosniff",
      };
      return [name, { text, headers }] as const;
    }),
  );
}
