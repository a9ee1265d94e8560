// The pages at / and /docs of a running gateway: every page exists, every link works, pages need and allow only our own
// files, and no page is heavy.
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { membersOf } from "#platform/values/unchecked.ts";
import { chapters } from "../../deploy/generate/docs/contents.ts";
import { answerExample } from "../../deploy/generate/docs/reference/answer-example.ts";
import { operationsOf } from "../../deploy/generate/docs/reference/api-operation.ts";
import { ApiError, type ErrorCode, errorAnswer, errorTable } from "../../gateway/failures.ts";
import { describedEvents } from "../../gateway/openapi/text.ts";
import { type Answer, apiClient } from "../harness/api.ts";
import { contractSuite } from "./caller.ts";
import { type ApiDocument, apiDocument } from "./document.ts";

const { test, running } = contractSuite("docs pages", { timeoutMs: 60_000 });
const pageMaxBytes = 60_000;
const searchMaxBytes = 90_000;
let document: ApiDocument;
/** Every page by its address, found by following links from `/`. */
const pages = new Map<string, Answer>();

test.before(async () => {
  document = await apiDocument(running.gateway);
  const waiting = ["/"];
  for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
    if (pages.has(address)) continue; // each is read once: the loop ends
    const page = (await apiClient(running.gateway).get(address)).expect(200);
    pages.set(address, page);
    waiting.push(
      ...linksOf(page)
        .map((link) => link.split("#")[0] ?? "")
        .filter((link) => isPage(link)),
    );
  }
});

const isPage = (address: string) => address === "/" || (/^\/docs\b/.test(address) && !/\.\w+$/.test(address));
const linksOf = (page: Answer) => [...page.raw.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = ""]) => href);
const idsOf = (page: Answer) => [...page.raw.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id);

test("every guide and the reference is reached from the landing page by links, and no page of operators is served", async () => {
  const guides = chapters.flatMap((chapter) => chapter.guides.map(({ address }) => address));
  for (const address of [...guides, "/docs", "/docs/api", "/docs/api/payments", "/docs/samples"]) {
    assert.ok(pages.has(address), address);
  }
  assert.ok(pages.size > 25);
  for (const address of ["/docs/production", "/docs/security", "/docs/contributing", "/docs/architecture"])
    (await apiClient(running.gateway).get(address)).expect(404);
});

test("every link leads to an existing page and anchor, and ids are unique", async () => {
  const dead: string[] = [];
  const others = new Set<string>();
  for (const [address, page] of pages) {
    assert.deepEqual(idsOf(page).length, new Set(idsOf(page)).size, `${address}: an id occurs twice`);
    for (const link of linksOf(page)) {
      if (/^(https?:|mailto:)/.test(link)) continue;
      const [path = "", anchor] = link.split("#");
      const target = pages.get(path === "" ? address : path);
      if (!target) others.add(path);
      else if (anchor !== undefined && !idsOf(target).includes(decodeURIComponent(anchor)))
        dead.push(`${address}: ${link}`);
    }
  }
  assert.deepEqual(dead, []);
  for (const path of others) (await apiClient(running.gateway).get(path)).expect(200);
});

test("every operation has its call in three languages, an answer and an error; every code and event has an anchor", () => {
  const reference = [...pages].filter(([address]) => address.startsWith("/docs/api"));
  for (const { id, scope } of document.operations) {
    const found = reference.flatMap(([, page]) =>
      page.raw.split("<section ").filter((section) => section.includes(`id="${id}"`)),
    );
    assert.equal(found.length, 1, id);
    const [section = ""] = found;
    const isOfBrowser = ["resolveCheckout", "confirmCheckout", "giveEmail"].includes(id);
    const wanted = isOfBrowser ? [] : ["curl", "node", "python"];
    assert.deepEqual(
      [...section.matchAll(/<figure class="code" data-lang="(\w+)"/g)].map(([, lang]) => lang),
      wanted,
      id,
    );
    assert.match(section, /class="title">Response 20[014]</, id);
    assert.match(section, /class="title">Error [45]\d\d</, id);
    if (scope !== undefined) assert.ok(section.includes(`<code>${scope}</code>`), id);
  }
  for (const code of Object.keys(errorTable) as ErrorCode[]) {
    const { link = "" } = errorAnswer(new ApiError(code)).headers;
    const [, page = "", anchor = ""] = /^<(.+)#(.+)>; rel="help"$/.exec(link) ?? [];
    assert.equal(anchor, code);
    assert.ok(idsOf(pages.get(page) ?? assert.fail(page)).includes(anchor), `the help link of ${code}`);
  }
  const events = idsOf(pages.get("/docs/api/events") ?? assert.fail());
  for (const { code } of describedEvents) assert.ok(events.includes(code), code);
});

test("every answer that is shown is one that the document allows", () => {
  const root = membersOf(document.root);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document.root, "document");
  for (const { id, answer } of operationsOf(root)) {
    if (answer === undefined) continue;
    const text = JSON.stringify(answer).replaceAll('"#/', '"document#/');
    const validate = ajv.compile(JSON.parse(text));
    assert.ok(validate(answerExample(root, answer)), `${id}: ${ajv.errorsText(validate.errors)}`);
  }
});

test("a page needs nothing inline and nothing from elsewhere, and its policy allows neither", async () => {
  for (const [address, page] of pages) {
    assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(
      page.headers.get("content-security-policy"),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    assert.ok(!/<script(?! src="\/docs\/)|<style| style="| on\w+="|javascript:/.test(page.raw), address);
    for (const [, target = ""] of page.raw.matchAll(/<(?:script|img|link)[^>]* (?:src|href)="([^"]*)"/g)) {
      assert.match(target, /^\/docs\//, address);
      assert.equal((await fetch(`${running.gateway}${target}`)).status, 200, target);
    }
  }
});

test(`a page with its style and scripts is at most ${pageMaxBytes} bytes, the search at most ${searchMaxBytes}`, async () => {
  const sent = async (path: string) => {
    const answer = await fetch(`${running.gateway}${path}`, { headers: { "accept-encoding": "gzip" } });
    return gzipSync(Buffer.from(await answer.arrayBuffer()), { level: 9 }).length;
  };
  const around = (await sent("/docs/site.css")) + (await sent("/docs/site.js")) + (await sent("/docs/early.js"));
  const sizes = [...pages].map(([address, page]) => ({
    address,
    bytes: around + gzipSync(page.raw, { level: 9 }).length,
  }));
  const [largest] = sizes.sort((a, b) => b.bytes - a.bytes);
  console.log(`\n  ${pages.size} pages, the largest ${largest?.address} with ${largest?.bytes} bytes`);
  assert.ok(Number(largest?.bytes) <= pageMaxBytes, `${largest?.address}: ${largest?.bytes}`);
  assert.ok((await sent("/docs/search.json")) + (await sent("/docs/search.js")) <= searchMaxBytes);
});

test("a trailing slash is the same page, and an unknown address is a 404 page", async () => {
  for (const [one, other] of [
    ["/docs", "/docs/"],
    ["/docs/webhooks", "/docs/webhooks/"],
  ] as const) {
    assert.equal((await apiClient(running.gateway).get(other)).expect(200).raw, pages.get(one)?.raw);
  }
  for (const path of ["/docs/nope", "/docs/api/nope", "/docs/..%2f..%2fpackage.json", "/docs/%00"]) {
    const missing = await apiClient(running.gateway).get(path);
    assert.equal(missing.status, 404, path);
    assert.match(missing.raw, /Page not found/, path);
    assert.match(missing.headers.get("content-security-policy") ?? "", /^default-src 'none'/);
  }
});

test("what is served is sent compressed, and not at all to who has it", async () => {
  for (const path of [
    "/",
    "/docs",
    "/docs/",
    "/docs/api/payments",
    "/docs/site.css",
    "/docs/site.js",
    "/docs/search.json",
    "/openapi.json",
    "/openapi.yaml",
  ]) {
    const url = `${running.gateway}${path}`;
    for (const coding of ["br", "gzip", "identity"]) {
      const answer = await fetch(url, { headers: { "accept-encoding": coding } });
      assert.equal(answer.headers.get("content-encoding"), coding === "identity" ? null : coding, path);
      assert.equal(answer.headers.get("vary"), "accept-encoding");
      assert.ok((await answer.text()).length > 1_000, "whole");
      const etag = answer.headers.get("etag") ?? "";
      assert.equal((await fetch(url, { headers: { "if-none-match": etag } })).status, 304);
      assert.match(answer.headers.get("cache-control") ?? "", /^public, max-age=\d+$/);
    }
  }
});

test("no page, script or index has a key or a secret in it", async () => {
  const files = ["/docs/search.json", "/docs/site.js", "/docs/search.js", "/docs/try.js", "/docs/early.js"];
  const texts = [...pages].map(([address, page]) => [address, page.raw] as const);
  for (const path of files) texts.push([path, await (await fetch(`${running.gateway}${path}`)).text()]);
  for (const [address, text] of texts) assert.ok(!/(sk_(test|live)|whsec|cs_secret)_\w{16}/.test(text), address);
});

test.run();
