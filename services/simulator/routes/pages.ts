// The buyers' pages and their files.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { notFound } from "../failure.ts";
import { bankPage, challengePage, formPage } from "../pages/form-page.ts";
import type { Page } from "../pages/page.ts";
import { receiptPage } from "../pages/receipt-page.ts";
import type { Processor } from "../processor.ts";
import { findIntentByReceipt } from "../store/intents.ts";
import { chooseLanguage, type Language, languages } from "../texts/languages.ts";
import { Fields } from "./fields.ts";

export function pageRoutes(app: FastifyInstance, processor: Processor): void {
  const form = inEachLanguage(formPage);
  app.get("/form/:id", async (request, reply) => {
    const page = form(languageOf(request));
    return reply.headers(page.headers).send(page.html);
  });

  const challenge = inEachLanguage(challengePage);
  app.get("/challenge/:id", async (request, reply) => {
    const page = challenge(languageOf(request));
    return reply.headers(page.headers).send(page.html);
  });

  const bank = inEachLanguage(bankPage);
  app.get("/bank/:id", async (request, reply) => {
    const page = bank(languageOf(request));
    return reply.headers(page.headers).send(page.html);
  });

  app.get<{ Params: { token: string } }>("/receipts/:token", async (request, reply) => {
    const intent = await findIntentByReceipt(processor.db, request.params.token);
    if (!intent?.paid_at) throw notFound("receipt");
    const page = receiptPage(intent, request.headers["accept-language"]);
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

/** `?locale=`, then the browser's preferences. */
function languageOf({ query, headers }: FastifyRequest): Language {
  return chooseLanguage([new Fields(query).members.locale], headers["accept-language"]);
}

/** Pages are rendered once per language, regardless of the region. */
function inEachLanguage(make: (language: Language) => Page): (language: Language) => Page {
  const pages = new Map([...languages.keys()].map((code) => [code, make(chooseLanguage([code]))]));
  return (language) => pages.get(language.code) ?? make(language);
}

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** All files of pages/assets and the texts of each language, in memory. */
function readAssets() {
  const folder = join(import.meta.dirname, "../pages/assets");
  const names = readdirSync(folder).filter((name) => extname(name) in types);
  const files = [
    ...names.map((name) => [name, readFileSync(join(folder, name), "utf8")] as const),
    ...[...languages].map(([code, texts]) => [`texts-${code}.json`, JSON.stringify(texts)] as const),
  ];
  return new Map(
    files.map(([name, text]) => {
      const headers = {
        "Content-Type": types[extname(name)] ?? "",
        "Cache-Control": "no-cache", // revalidated each time, with 304
        ETag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`,
        "X-Content-Type-Options": "nosniff",
      };
      return [name, { text, headers }] as const;
    }),
  );
}
