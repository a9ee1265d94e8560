import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { suite } from "../../test/harness/suite.ts";
import { findNatsServer } from "./nats-binary.ts";

const test = suite("nats-server finder");
let dir = "";

test.beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "tollbooth-finder-"));
});
test.afterEach(() => rm(dir, { recursive: true, force: true }));

async function server(folder: string, version: string): Promise<string> {
  const path = join(dir, folder, "nats-server");
  await mkdir(join(dir, folder), { recursive: true });
  await writeFile(path, `#!/bin/sh\necho 'nats-server: v${version}'\n`);
  await chmod(path, 0o755);
  return path;
}

/** Searches only the test's folders; PATH has /bin only because the programs are shell scripts. */
function find(env: Record<string, string> = {}) {
  return findNatsServer({
    env: { PATH: join(dir, "path"), ...env },
    extraDirs: [],
    cacheDir: join(dir, "cache"),
  });
}

test("the named program comes first, then PATH, then the newest in the cache", async () => {
  const named = await server("named", "2.10.0");
  const onPath = await server("path", "2.10.1");
  await server("cache/2.9.25", "2.9.25");
  const newest = await server("cache/2.10.27", "2.10.27");
  assert.equal(await find({ NATS_SERVER_BIN: named }), { path: named, version: "2.10.0", source: "NATS_SERVER_BIN" });
  assert.equal(await find(), { path: onPath, version: "2.10.1", source: "PATH" });
  await rm(onPath);
  assert.equal(await find(), { path: newest, version: "2.10.27", source: "cache" });
});

test("skips a server that is too old and takes the oldest supported one", async () => {
  await server("path", "2.9.9");
  const cached = await server("cache/2.9.10", "2.9.10");
  assert.is((await find()).path, cached);
});

test("fails when NATS_SERVER_BIN is not a server, although PATH has one", async () => {
  await server("path", "2.10.1");
  const wrong = join(dir, "missing");
  try {
    await find({ NATS_SERVER_BIN: wrong });
    assert.unreachable("it was taken");
  } catch (error) {
    assert.instance(error, Error);
    assert.match(String(error), `NATS_SERVER_BIN=${wrong} is not a nats-server`);
  }
});

test.run();
