// The server libraries as merchants install them: packed, put into an empty folder without a network, and the
// quickstarts of their pages run word for word against the running system.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { freePort } from "../../deploy/local/free-port.ts";
import { packNodeClient } from "../../deploy/pack/node-client.ts";
import { packPythonClient } from "../../deploy/pack/python-client.ts";
import { packRpcClient } from "../../deploy/pack/rpc-client.ts";
import { apiClient } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { python } from "../harness/files/python.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { payInFrame } from "../harness/pay.ts";
import { announcedTwice } from "../harness/payments/announced-twice.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { contractSuite } from "./caller.ts";

const { test, running } = contractSuite("packed libraries", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const pages = { node: "gateway/clients/node/README.md", python: "gateway/clients/python/README.md" };
let folder: string;
/** The folder with the installed library, and the command that starts a program there. */
let node: string;
let pythonPath: string;

test.before(async () => {
  folder = await tempDir("packed");
  node = join(folder, "node");
  await mkdir(node);
  await writeFile(join(node, "package.json"), '{"type":"module"}');
  const tarball = await packNodeClient(folder);
  const install = ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", tarball];
  await run("npm", install, { cwd: node, timeout: 60_000 });
  pythonPath = join(folder, "python");
  const wheel = await packPythonClient(folder);
  if (python !== undefined) await installWheel(python, wheel, pythonPath);
});
test.after(() => rm(folder, { recursive: true, force: true }));

/** By pip, where there is one, and as its users without one do. */
async function installWheel(command: string, wheel: string, target: string): Promise<void> {
  const byPip = ["-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", "--target", target];
  try {
    await run(command, [...byPip, wheel], { timeout: 60_000 });
  } catch (error) {
    if (!String(error).includes("No module named pip")) throw error;
    await run(command, ["-m", "zipfile", "-e", wheel, target], { timeout: 20_000 });
  }
}

/** The code of a page in a language, in its order. */
function codeOf(page: string, language: string): string[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].flatMap(([, name, code = ""]) =>
    name === language ? [code] : [],
  );
}

/** Runs a quickstart, pays what it prints, and waits until its webhook came. */
async function quickstart(command: string, words: string[], env: Record<string, string>): Promise<void> {
  const merchant = await freshMerchant(running);
  const child = spawn(command, words, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      TOLLBOOTH_URL: running.gateway,
      TOLLBOOTH_KEY: merchant.apiKey,
      TLS_CERT: running.tls.cert,
      TLS_KEY: running.tls.key,
      HOOK_PORT: String(await freePort()),
      ...env,
    },
  });
  try {
    const lines = linesOf(child);
    const waitForLine = (begin: string) => eventually(`"${begin}"`, () => lineWith(lines, begin));
    const url = new URL((await waitForLine("pay here: ")).slice("pay here: ".length));
    const id = url.pathname.split("/").at(-1) ?? "";
    const secret = new URLSearchParams({ secret: url.hash.slice(1) });
    const buyer = apiClient(running.gateway);
    const session = (await buyer.get(`/v1/checkout/${id}?${secret}`)).expect(200);
    await payInFrame(session.text("render.frame_url"));
    const paid = (await buyer.post(`/v1/checkout/${id}/confirm?${secret}`)).expect(200).text("payment_id");
    await waitForLine("paid:");
    await eventually("the payment", () => lines.some((line) => line.includes(paid)));
    await announcedTwice(merchant, paid);
    assert.equal(lines.filter((line) => line.startsWith("paid:")).length, 1, "the order is fulfilled once");
  } finally {
    child.kill();
  }
}

function lineWith(lines: readonly string[], begin: string): string | undefined {
  const failed = lines.find((line) => /Error\b/.test(line));
  if (failed !== undefined) throw new Error(lines.join("\n"));
  return lines.find((line) => line.startsWith(begin));
}

function linesOf(child: ChildProcess): readonly string[] {
  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    if (input) createInterface({ input }).on("line", (line) => lines.push(line));
  }
  return lines;
}

/** Every Node that is here: the one of the product, and the one of the machine. */
const nodes = [process.execPath, ...["/usr/local/bin/node", "/usr/bin/node"].filter(isNode)];

/** Whether it is one that the library runs on. */
function isNode(path: string): boolean {
  return existsSync(path) && Number(execFileSync(path, ["-p", "process.versions.node.split('.')[0]"])) >= 20;
}

test("the Node README's quickstart is at most thirty lines and fulfils an order once, on the oldest Node that is here as well", async () => {
  const [code = ""] = codeOf(pages.node, "js");
  assert.ok(code.trimEnd().split("\n").length <= 30);
  await writeFile(join(node, "quickstart.mjs"), code);
  for (const command of nodes) await quickstart(command, [join(node, "quickstart.mjs")], {});
});

test("the Node README's code compiles against the declarations, and a mistake does not", async () => {
  const used = "answerOf, ConnectionFailedError, InvalidRequestError, Tollbooth, verifyWebhook";
  const snippets = codeOf(pages.node, "ts").map((code, i) => `export async function snippet${i}() {\n${code}}\n`);
  assert.ok(snippets.length >= 3);
  const program = `
    import { ${used} } from "@tollbooth/node";
    declare const tollbooth: Tollbooth;
    ${snippets.join("\n")}
    const event = verifyWebhook(new Uint8Array(), "t=1,v1=", ["whsec_a", "whsec_b"]);
    switch (event.type) {
      case "payment.succeeded": event.payment_id satisfies string; break;
      case "checkout_session.expired": event.payment_id satisfies string | undefined; break;
      default: String(event.type);
    }
    const payment = await tollbooth.payments.get("pay_x");
    if (payment.status === "succeeded" || payment.status === "new_word") payment.amount satisfies number;
    // @ts-expect-error a field that no payment has
    payment.amonut;
    // @ts-expect-error a session needs its currency
    tollbooth.checkoutSessions.create({ amount: 1050 });
    // @ts-expect-error no key where none is honoured
    tollbooth.apiKeys.create({}, { idempotencyKey: "k" });
    // @ts-expect-error a word that is not sent
    tollbooth.merchant.updateBranding({ theme: "purple" });
  `;
  await writeFile(join(node, "shop.ts"), program);
  await mkdir(join(node, "node_modules/@types"), { recursive: true });
  await symlink(join(root, "node_modules/@types/node"), join(node, "node_modules/@types/node"));
  await symlink(join(root, "node_modules/undici-types"), join(node, "node_modules/undici-types"));
  const options = [
    "--noEmit",
    "--strict",
    "--exactOptionalPropertyTypes",
    "--module",
    "nodenext",
    "--target",
    "es2022",
  ];
  const compiled = run(
    join(root, "node_modules/.bin/tsc"),
    [...options, "--lib", "es2022", "--types", "node", "--ignoreConfig", "shop.ts"],
    { cwd: node, timeout: 60_000 },
  );
  const { stdout } = await compiled.catch((error) => error);
  assert.equal(stdout, "");
});

test("the packed RPC clients call a service, with their types, and hide no package of Python's gRPC", async () => {
  const tarball = await packRpcClient(folder);
  const installed = join(node, "node_modules/@tollbooth/rpc");
  await mkdir(installed, { recursive: true });
  await run("tar", ["-xzf", tarball, "-C", installed, "--strip-components", "1"]);
  for (const scope of ["@bufbuild", "@connectrpc"])
    await symlink(join(root, "node_modules", scope), join(node, "node_modules", scope));
  const program = `
    import { createClient } from "@connectrpc/connect";
    import { createGrpcTransport } from "@connectrpc/connect-node";
    import { MerchantService } from "@tollbooth/rpc/merchant/v1/merchant_pb.js";
    const [baseUrl = "", token = ""] = process.argv.slice(2);
    const transport = createGrpcTransport({ baseUrl, interceptors: [(next) => (request) => {
      request.header.set("authorization", \`Bearer \${token}\`);
      return next(request);
    }] });
    const { merchants } = await createClient(MerchantService, transport).listMerchants({ pageSize: 1 });
    merchants[0]?.id satisfies string | undefined;
    console.log(merchants[0]?.id);
  `;
  await writeFile(join(node, "team.ts"), program);
  const args = ["--strict", "--module", "nodenext", "--target", "es2022", "--types", "node", "--skipLibCheck"];
  const compiled = run(join(root, "node_modules/.bin/tsc"), [...args, "--ignoreConfig", "team.ts"], { cwd: node });
  assert.equal((await compiled.catch((error) => error)).stdout, "");
  const { stdout } = await run(process.execPath, ["team.js", running.rpc.merchant, running.rpc_token], { cwd: node });
  assert.match(stdout, /^mer_\w+\n$/);
  const listed = execFileSync("tar", ["-tzf", tarball]).toString();
  assert.match(listed, /^package\/proto\/events\/v1\/events\.proto$/m);
  assert.doesNotMatch(listed, /\/grpc\//);
});

test("both packages are reproducible, with the licence and without other files of the repository", async () => {
  const again = join(folder, "again");
  for (const pack of [packNodeClient, packPythonClient]) {
    assert.deepEqual(readFileSync(await pack(again)), readFileSync(await pack(folder)));
  }
  const listed = execFileSync("tar", ["-tzf", await packNodeClient(again)]).toString();
  assert.match(listed, /^package\/LICENSE$/m);
  assert.deepEqual(
    listed.match(/^(?!package\/(?:LICENSE|README\.md|package\.json|tollbooth\.js|.*\.d\.ts)$).+$/gm),
    null,
  );
});

if (python === undefined) {
  test.skip(
    "the Python README's quickstart is at most thirty lines and fulfils an order once",
    "there is no Python 3.10 or newer",
  );
} else {
  const command = python;
  test("the Python README's quickstart is at most thirty lines and fulfils an order once", async () => {
    const blocks = codeOf(pages.python, "python");
    const [code = ""] = blocks;
    assert.ok(code.trimEnd().split("\n").length <= 30);
    await writeFile(join(folder, "quickstart.py"), code);
    await quickstart(command, [join(folder, "quickstart.py")], { PYTHONPATH: pythonPath });
    for (const block of blocks) await run(command, ["-c", "import ast, sys; ast.parse(sys.argv[1])", block]);
    const files = await run(command, ["-c", listing], { env: { ...process.env, PYTHONPATH: pythonPath } });
    assert.deepEqual(JSON.parse(files.stdout), { version: true, licence: true, typed: true, tests: false });
  });
}

/** An installed package's description of itself. */
const listing = `
import json, importlib.metadata as of, tollbooth, pathlib
names = [str(each) for each in of.files("tollbooth")]
print(json.dumps({
    "version": of.version("tollbooth") == tollbooth.__version__,
    "licence": any(each.endswith("LICENSE") for each in names),
    "typed": (pathlib.Path(tollbooth.__file__).parent / "py.typed").exists(),
    "tests": any("test" in each for each in names),
}))`;

test.run();
