// The calls of /docs as a reader runs them: copied from the page, with a merchant's own ids, in curl, Node and Python,
// against the running system.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { testCards } from "../../services/simulator/rules/test-card.ts";
import { makePurchase } from "../console/purchases.ts";
import { apiClient } from "../harness/api.ts";
import { python, runPython } from "../harness/files/python.ts";
import { pdfFile } from "../harness/files/sample-files.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { type Receiver, startReceiver } from "../harness/receiver.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { contractSuite } from "./caller.ts";
import { apiDocument } from "./document.ts";
import { type ShownCall, type Story, shownCalls, storyOf } from "./shown-calls.ts";

const { test, running } = contractSuite("docs calls", { timeoutMs: 120_000 });
const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
let receiver: Receiver;
let folder: string;
let document: object;

test.before(async () => {
  receiver = await startReceiver(running.tls);
  folder = await tempDir("docs-calls");
  document = (await apiDocument(running.gateway)).root;
  await writeFile(join(folder, "receipt.pdf"), pdfFile());
});
test.after(async () => {
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

/** By operation: "ok", or why it was refused. */
type Outcomes = Readonly<Record<string, string>>;

/** Only live keys can be limited to addresses, and the rules of the example name another merchant's connector. */
const refused: Outcomes = { limitApiKey: "invalid_body", replaceRouting: "invalid_body" };

async function prepared(language: string): Promise<{ story: Story; calls: ShownCall[] }> {
  const calls = await shownCalls(running.gateway, document, language);
  assert.ok(calls.length > 50, `${calls.length} calls`);
  return { story: await storyOf(running, receiver.url), calls };
}

const variables = (story: Story) => ({
  ...process.env,
  TOLLBOOTH_URL: running.gateway,
  TOLLBOOTH_KEY: story.apiKey,
  SESSION_SECRET: story.sessionSecret,
});

function wanted(calls: readonly ShownCall[]): Outcomes {
  return Object.fromEntries(calls.map(({ operation }) => [operation, refused[operation] ?? "ok"]));
}

test("each call in curl has the page's answer", async () => {
  const { story, calls } = await prepared("curl");
  const outcomes: Record<string, string> = {};
  for (const call of calls) {
    const { stdout } = await run("sh", ["-c", story.render(call)], {
      cwd: folder,
      env: variables(story),
      timeout: 30_000,
    });
    // A file is no JSON.
    const code = stdout.startsWith("{") ? JSON.parse(stdout).error?.code : undefined;
    outcomes[call.operation] = code ?? "ok";
  }
  assert.deepEqual(outcomes, wanted(calls));
});

test("each call in Node has the page's answer", async () => {
  const { story, calls } = await prepared("node");
  const library = join(folder, "node_modules/@tollbooth/node");
  await mkdir(library, { recursive: true });
  await writeFile(join(library, "package.json"), '{"type":"module","exports":"./library.js"}');
  const source = pathToFileURL(join(root, "gateway/clients/node/tollbooth.ts")).href;
  await writeFile(join(library, "library.js"), `export * from ${JSON.stringify(source)};\n`);
  for (const call of calls) await writeFile(join(folder, `${call.operation}.mjs`), story.render(call));
  const program = `
    const outcomes = {}, log = console.log;
    console.log = () => {};
    for (const name of process.argv.slice(1)) {
      outcomes[name] = await import("file://" + process.cwd() + "/" + name + ".mjs").then(() => "ok", (error) => error.code ?? error.message);
    }
    log(JSON.stringify(outcomes));`;
  const { stdout } = await run(
    process.execPath,
    ["--input-type=module", "-e", program, ...calls.map(({ operation }) => operation)],
    { cwd: folder, env: variables(story), timeout: 60_000 },
  );
  assert.deepEqual(JSON.parse(stdout), wanted(calls));
});

if (python === undefined)
  test.skip("each call in Python has the page's answer", "Python 3.10 or newer is not installed");
else
  test("each call in Python has the page's answer", async () => {
    const { story, calls } = await prepared("python");
    for (const call of calls) await writeFile(join(folder, `${call.operation}.py`), story.render(call));
    const program = [
      "import contextlib, io, json, os, runpy, sys",
      "os.chdir(sys.argv[1]); outcomes = {}",
      "for name in sys.argv[2:]:",
      "    try:",
      "        with contextlib.redirect_stdout(io.StringIO()): runpy.run_path(name + '.py')",
      "        outcomes[name] = 'ok'",
      "    except Exception as error: outcomes[name] = getattr(error, 'code', None) or repr(error)",
      "print(json.dumps(outcomes))",
    ].join("\n");
    const { TOLLBOOTH_URL, TOLLBOOTH_KEY } = variables(story);
    const stdout = await runPython(["-c", program, folder, ...calls.map(({ operation }) => operation)], {
      path: [join(root, "gateway/clients/python")],
      env: { TOLLBOOTH_URL, TOLLBOOTH_KEY },
    });
    assert.deepEqual(JSON.parse(stdout), wanted(calls));
  });

test("each declined test card fails with the code in the test cards' table", async () => {
  const page = (await apiClient(running.gateway).get("/docs/test-cards")).expect(200).raw;
  const own = await freshMerchant(running);
  const rows = [...page.matchAll(/<tr><td><code>([\d ]+)<\/code><\/td><td>[^<]*<\/td><td>(?:<code>(\w+)<\/code>)?/g)];
  assert.equal(rows.length, testCards.length);
  for (const [, number = "", code] of rows) {
    if (code === undefined) continue;
    const { payment } = await makePurchase(running, own, {}, number.replaceAll(" ", ""));
    const record = (await own.api.get(`/v1/payments/${payment}`)).expect(200);
    assert.equal(record.at("failure.code") ?? record.at("attempts.0.failure_code"), code, number);
  }
});

test.run();
