// The archive's files in a folder and in a bucket, which checks each request's signature by the rules of AWS
// (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { parseConfig } from "#platform/process/config.ts";
import { archiveSettings } from "../../../services/archive/settings.ts";
import { openStorage } from "../../../services/archive/storage.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const test = suite("storage of the archive");
const secret = "a/secret+key";
const region = "fr-par";

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
const hash = (text: string | Buffer) => createHash("sha256").update(text).digest("hex");

/** The signature that AWS computes for a request. */
function signatureOf({ method = "", url = "", headers }: IncomingMessage, signed: string): string {
  const date = String(headers["x-amz-date"]);
  const scope = [date.slice(0, 8), region, "s3", "aws4_request"];
  const lines = signed.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, url, "", lines.join(""), signed, String(headers["x-amz-content-sha256"])].join("\n");
  const key = scope.reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${secret}`);
  return hmac(key, ["AWS4-HMAC-SHA256", date, scope.join("/"), hash(canonical)].join("\n")).toString("hex");
}

const bucket = fixture(test, async () => {
  const objects = new Map<string, Buffer>();
  const failures: number[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request);
    const [, id, signed = "", signature] =
      /Credential=([^/]+)\/.*SignedHeaders=([^,]+), Signature=(\w+)/.exec(request.headers.authorization ?? "") ?? [];
    const end = (status: number, bytes?: Buffer) => response.writeHead(status).end(bytes);
    if (id !== "archive-key" || signature !== signatureOf(request, signed)) return end(403);
    const failure = failures.shift();
    if (failure !== undefined) return end(failure);
    const name = request.url ?? "";
    if (request.method === "PUT") objects.set(name, body);
    if (request.method !== "GET") return end(200);
    const found = objects.get(name);
    const [, start, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    return found ? end(206, found.subarray(Number(start), Number(last) + 1)) : end(404);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    ...{ objects, failures },
    url: new URL(`http://127.0.0.1:${port}/shop/months?region=${region}`),
    stop: () => new Promise((done) => server.close(done)),
  };
});

const bytes = new TextEncoder().encode("0123456789");
const read = async (storage: ReturnType<typeof openStorage>, start: number, end: number) =>
  new TextDecoder().decode(await storage.read("payments/2024-01/a.parquet", start, end));

test("a bucket gets signed requests below its prefix, and a failing server is asked again", async () => {
  const storage = openStorage(bucket.url, `archive-key:${secret}`);
  bucket.failures.push(503);
  await storage.write("payments/2024-01/a.parquet", bytes);
  assert.deepEqual([...bucket.objects.keys()], ["/shop/months/payments/2024-01/a.parquet"]);
  assert.equal(await read(storage, 2, 5), "234");
  await assert.rejects(read(storage, 8, 12), /2 bytes of 4/);
  await assert.rejects(storage.read("b", 0, 1), { message: "the bucket answered GET with 404" });
  await assert.rejects(openStorage(bucket.url, "archive-key:wrong").write("b", bytes), { message: /PUT with 403$/ });
});

test("a bucket without a key is refused at the start", () => {
  assert.throws(() => openStorage(bucket.url, undefined), {
    message: "ARCHIVE_KEY is missing: ARCHIVE_URL is a bucket",
  });
});

test("a folder has whole files only", async () => {
  const path = await tempDir("storage");
  const storage = openStorage(pathToFileURL(path), undefined);
  await storage.write("payments/2024-01/a.parquet", bytes);
  assert.deepEqual(await readdir(`${path}/payments/2024-01`), ["a.parquet"]);
  assert.equal(await read(storage, 2, 5), "234");
  await assert.rejects(read(storage, 8, 12), /ends before byte 12/);
  await assert.rejects(storage.read("b", 0, 1), /ENOENT/);
  await rm(path, { recursive: true });
});

test("the place of the archive is a folder or a bucket over https", () => {
  const problem = (url: string) => parseConfig(archiveSettings, { ARCHIVE_URL: url }).problems[0];
  for (const url of ["file:///var/archive", "https://s3.example.com/bucket", "http://127.0.0.1:9000/bucket/a"])
    assert.equal(problem(url), undefined, url);
  for (const url of [
    "http://s3.example.com/bucket",
    "https://s3.example.com",
    "https://id:key@s3.example.com/b",
    "file://host/a",
    "s3://b",
  ])
    assert.equal(problem(url), "ARCHIVE_URL must be file:///folder or https://host/bucket", url);
});

test.run();
