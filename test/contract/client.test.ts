// A TypeScript client that an npm generator makes of the served document: it type-checks, and the quickstart runs on
// it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { api } from "../harness/api.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { contractSuite } from "./caller.ts";

const { test, running } = contractSuite("generated client", { timeoutMs: 60_000 });
const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const limits = { timeout: 50_000, cwd: root };
let folder: string;

test.before(async () => {
  // Inside the project, so that the client finds its runtime package.
  await mkdir(join(root, ".local-test"), { recursive: true });
  folder = await mkdtemp(join(root, ".local-test/client-"));
});
test.after(() => rm(folder, { recursive: true, force: true }));

const program = (name: string) => join(root, "node_modules/.bin", name);

test("the client is generated, type-checks strictly, and runs the quickstart", async () => {
  const document = (await api(running.gateway).get("/openapi.json")).expect(200);
  await writeFile(join(folder, "openapi.json"), document.raw);
  await run(program("oazapfts"), [join(folder, "openapi.json"), join(folder, "client.ts"), "--optimistic"], limits);
  await copyFile(join(import.meta.dirname, "client-quickstart.ts.txt"), join(folder, "quickstart.ts"));
  const settings = {
    extends: "../../tsconfig.json",
    compilerOptions: { exactOptionalPropertyTypes: false },
    include: ["*.ts"],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const checked = await run(program("tsc"), ["--noEmit", "-p", folder], limits).catch((error) => error);
  assert.equal(checked.stdout, "");
  const merchant = await freshMerchant(running);
  const { stdout } = await run(process.execPath, [join(folder, "quickstart.ts")], {
    ...limits,
    env: { ...process.env, BASE_URL: running.gateway, API_KEY: merchant.apiKey },
  });
  const { wrong, ...result } = JSON.parse(stdout);
  assert.deepEqual(result, { status: "completed", amount: 1050, refunded: 50, total: 1 });
  assert.notEqual(wrong, "none");
});

test.run();
