// The samples of /docs, run as a merchant would run them.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../../deploy/local/free-port.ts";
import { SignatureVerificationError } from "../../gateway/clients/node/errors.ts";
import { verifyWebhook } from "../../gateway/clients/node/webhook.ts";
import { makePurchase } from "../console/purchases.ts";
import { eventually } from "../harness/eventually.ts";
import { python, runPython } from "../harness/files/python.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { announcedTwice } from "../harness/payments/announced-twice.ts";
import { type ReceivedRequest, startReceiver } from "../harness/receiver.ts";
import { fixture } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { contractSuite } from "./caller.ts";
import { failProcessor } from "./operator.ts";

const { test, running, merchant } = contractSuite("samples", { timeoutMs: 120_000 });
const run = promisify(execFile);
const folder = join(import.meta.dirname, "../../gateway/docs/samples");
const receiver = fixture(test, () => startReceiver(running.tls));
let signingSecret: string;
let received: ReceivedRequest;

test.before(async () => {
  const endpoint = { url: `${receiver.url}/hook`, event_types: ["payment.succeeded"] };
  const created = (await merchant.api.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
  signingSecret = created.text("signing_secret");
  (await merchant.api.post(`/v1/merchants/me/webhooks/${created.text("id")}/test`)).expect(200);
  received = await receiver.waitFor((request) => request.headers["service-event"] === "test.ping");
});

/** Runs a program of a few lines that imports a sample. */
async function runModule(file: string, lines: string, input: object): Promise<unknown> {
  const sample = pathToFileURL(join(folder, file)).href;
  const program = `import * as sample from ${JSON.stringify(sample)};\nconst input = JSON.parse(process.argv[1]);\n${lines}`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program, JSON.stringify(input)], {
    timeout: 50_000,
  });
  return JSON.parse(stdout);
}

const signature = `v1=${"0".repeat(64)}`;
/** Headers that must be refused, and no verifier may trip over: foreign digits, numbers of any length, broken text. */
const nonsense = [
  ...["", "x", "t", "=", ",,,", "t=,v1="],
  ...["²", "٣", "1²", "9".repeat(12), "9".repeat(5_000), "-1", "+1", "1e9", " 1", "0x1", "NaN"].map(
    (time) => `t=${time},${signature}`,
  ),
  `t=${Math.floor(Date.now() / 1_000)},v1=é`,
  `t=${Math.floor(Date.now() / 1_000)},v1,v1=`,
];

/** A genuine delivery, and what forgers would send. */
function deliveries() {
  const header = String(received.headers["service-signature"]);
  const body = received.body.toString();
  const forged = header.replace(/v1=.{4}/, "v1=0000");
  const old = header.replace(/t=\d+/, "t=1600000000");
  return [
    { body, header, secret: signingSecret, genuine: true },
    ...spacedHeaders(header, forged).map((each) => ({ body, header: each, secret: signingSecret, genuine: true })),
    { body: `${body} `, header, secret: signingSecret, genuine: false },
    { body, header: forged, secret: signingSecret, genuine: false },
    { body, header: old, secret: signingSecret, genuine: false },
    { body, header, secret: "whsec_other", genuine: false },
    ...nonsense.map((sent) => ({ body, header: sent, secret: signingSecret, genuine: false })),
  ];
}

/** Genuine headers as proxies and adapters rewrite them: several v1, blanks and tabs around the commas. */
function spacedHeaders(header: string, forged: string): string[] {
  const several = `${forged},${header.split(",")[1]}`;
  const [time = "", value = ""] = header.split(",");
  return [
    several,
    ...[header, several].map((each) => each.replaceAll(",", " ,\t ")),
    ` ${header}\t`,
    `${value}, ${time}`,
  ];
}

test("verify-webhook.mjs takes a genuine delivery and refuses forged, changed and old ones", async () => {
  const lines = `console.log(JSON.stringify(input.map((each) => sample.isGenuine(Buffer.from(each.body), each.header, each.secret))));`;
  const wanted = deliveries().map((each) => each.genuine);
  assert.deepEqual(await runModule("verify-webhook.mjs", lines, deliveries()), wanted);
});

if (python === undefined) test.skip("verify_webhook.py does the same", "there is no Python 3.10 or newer");
else
  test("verify_webhook.py does the same", async () => {
    const program =
      "import json, sys; sys.path.insert(0, sys.argv[1]); sys.dont_write_bytecode = True; import verify_webhook as sample\n" +
      "print(json.dumps([sample.is_genuine(each['body'].encode(), each['header'], each['secret']) for each in json.loads(sys.argv[2])]))";
    // As servers hand over what is no UTF-8.
    const broken = { body: "", header: `t=${Math.floor(Date.now() / 1_000)},v1=\udcff`, secret: "", genuine: false };
    const sent = [...deliveries(), broken];
    const stdout = await runPython(["-c", program, folder, JSON.stringify(sent)], { timeoutMs: 20_000 });
    assert.deepEqual(
      JSON.parse(stdout),
      sent.map((each) => each.genuine),
    );
  });

if (python === undefined) test.skip("the Python library does the same", "there is no Python 3.10 or newer");
else
  test("the Python library does the same", async () => {
    const program = [
      "import json, sys, tollbooth",
      "def is_genuine(each):",
      "    try: return tollbooth.verify_webhook(each['body'].encode(), each['header'], each['secret']).type == 'test.ping'",
      "    except tollbooth.SignatureVerificationError: return False",
      "print(json.dumps([is_genuine(each) for each in json.loads(sys.argv[1])]))",
    ].join("\n");
    const path = [join(folder, "../../clients/python")];
    const stdout = await runPython(["-c", program, JSON.stringify(deliveries())], { path, timeoutMs: 20_000 });
    assert.deepEqual(
      JSON.parse(stdout),
      deliveries().map((each) => each.genuine),
    );
  });

test("the Node library does the same", () => {
  const isGenuine = ({ body, header, secret }: ReturnType<typeof deliveries>[number]) => {
    try {
      return verifyWebhook(body, header, secret).type === "test.ping";
    } catch (error) {
      if (!(error instanceof SignatureVerificationError)) throw error;
      return false;
    }
  };
  assert.deepEqual(
    deliveries().map(isGenuine),
    deliveries().map((each) => each.genuine),
  );
});

/** Where a verifier's language is installed: a program that reads deliveries as JSON and prints what it thinks. */
const others = [
  {
    file: "verify_webhook.php",
    words: ["php"],
    program: `<?php require $argv[1]; $read = json_decode(file_get_contents("php://stdin"), true);
      echo json_encode(array_map(fn($each) => is_genuine($each["body"], $each["header"], $each["secret"]), $read));`,
    ending: "php",
  },
  {
    file: "verify_webhook.rb",
    words: ["ruby"],
    program: `require "json"; require ARGV[0]
      puts JSON.generate(JSON.parse(STDIN.read).map { |each| genuine?(each["body"], each["header"], each["secret"]) })`,
    ending: "rb",
  },
] as const;

for (const { file, words, program, ending } of others) {
  const name = `${file} does the same`;
  if (!isInstalled(words[0])) test.skip(name, `there is no ${words[0]}`);
  else
    test(name, async () => {
      const dir = await tempDir("samples");
      try {
        await writeFile(join(dir, `main.${ending}`), program);
        const input = JSON.stringify(deliveries());
        assert.deepEqual(
          await printed([...words, join(dir, `main.${ending}`), join(folder, file)], input),
          deliveries().map((each) => each.genuine),
        );
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
    });
}

if (!isInstalled("go")) test.skip("verify_webhook.go does the same", "there is no go");
else
  test("verify_webhook.go does the same", async () => {
    const dir = await tempDir("samples");
    try {
      const sample = await readFile(join(folder, "verify_webhook.go"), "utf8");
      await writeFile(join(dir, "verify.go"), sample.replace("package webhook", "package main"));
      await writeFile(join(dir, "main.go"), goProgram);
      const files = [join(dir, "main.go"), join(dir, "verify.go")];
      assert.deepEqual(
        await printed(["go", "run", ...files], JSON.stringify(deliveries()), { GOPROXY: "off", GO111MODULE: "off" }),
        deliveries().map((each) => each.genuine),
      );
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

test("list-payments.mjs reads every payment once", async () => {
  const made: string[] = [];
  for (let i = 0; i < 3; i++) made.push((await makePurchase(running, merchant)).payment);
  const lines = `
    const ids = [];
    for await (const payment of sample.everyPayment(input)) ids.push(payment.id);
    console.log(JSON.stringify(ids));`;
  const input = { baseUrl: running.gateway, apiKey: merchant.apiKey, query: { status: "succeeded", limit: "2" } };
  assert.deepEqual(await runModule("list-payments.mjs", lines, input), made.toReversed());
});

test("refund-once.mjs refunds once, also when it is run again and the processor stumbles", async () => {
  const paymentId = (await makePurchase(running, merchant)).payment;
  await failProcessor(running, merchant, { target: "api.refunds.create", kind: "error_before", count: 1 });
  const lines = `
    const results = [await sample.refundOnce(input), await sample.refundOnce(input)];
    console.log(JSON.stringify(results.map((each) => each.refunded)));`;
  const input = { baseUrl: running.gateway, apiKey: merchant.apiKey, paymentId, amount: 300, key: "refund of order 7" };
  assert.deepEqual(await runModule("refund-once.mjs", lines, input), [300, 300]);
  const record = (await merchant.api.get(`/v1/payments/${paymentId}`)).expect(200);
  assert.equal(record.number("refunded_amount"), 300);
});

test("refund-once.mjs does not repeat what can never succeed", async () => {
  const input = { baseUrl: running.gateway, apiKey: merchant.apiKey, paymentId: "pay_x", key: "k" };
  const lines = `console.log(JSON.stringify(await sample.refundOnce(input).catch((error) => error.message)));`;
  const began = performance.now();
  assert.equal(await runModule("refund-once.mjs", lines, input), "not_found");
  assert.ok(performance.now() - began < 5_000);
});

test("receive-webhooks.mjs fulfils a payment that is announced twice once, and names the port that is in use", async () => {
  const shop = await freshMerchant(running);
  const stateDir = await tempDir("receive-webhooks");
  await writeFile(join(stateDir, "stack.json"), JSON.stringify({ tls: running.tls }));
  const sample = join(folder, "receive-webhooks.mjs");
  const port = String(await freePort());
  const endpoint = { url: `https://localhost:${port}/hook`, event_types: ["payment.succeeded"] };
  const created = (await shop.api.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
  const env = { ...process.env, SIGNING_SECRET: created.text("signing_secret"), STATE_DIR: stateDir };
  const child = spawn(process.execPath, [sample, port], { env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    let printed = "";
    child.stdout.on("data", (data: Buffer) => (printed += data));
    await eventually("the receiver to listen", () => printed.includes("waiting for webhooks"));
    const second = await run(process.execPath, [sample, port], { env, timeout: 20_000 }).catch((error) => error);
    assert.equal(second.stderr, `port ${port} is in use: another receiver is running\n`);

    const { payment: paymentId } = await makePurchase(running, shop);
    await announcedTwice(shop, paymentId);
    const verified = `{"type":"payment.succeeded","payment_id":"${paymentId}","status":"succeeded"} signature ok`;
    const lines = printed.split("\n").slice(1, -1);
    assert.deepEqual(lines.toSorted(), [`fulfilled: ${paymentId}`, verified, verified].toSorted());
  } finally {
    child.kill();
  }
});

test("a sample without what it needs explains that in a line", async () => {
  const { SIGNING_SECRET: _secret, BASE: _base, KEY: _key, ...env } = process.env;
  for (const [words, expected] of [
    [["pay-as-buyer.mjs"], /^usage: node pay-as-buyer\.mjs <file [^\n]*\n$/],
    [["pay-as-buyer.mjs", "/nowhere.json"], /^\/nowhere\.json: ENOENT[^\n]*\n$/],
    [["receive-webhooks.mjs"], /^SIGNING_SECRET must be [^\n]*\n$/],
    [["register-webhook.mjs"], /^usage: BASE=[^\n]*\n$/],
  ] as const) {
    const [file, ...rest] = words;
    const failed = await run(process.execPath, [join(folder, file), ...rest], { env, cwd: folder }).catch(
      (error) => error,
    );
    assert.equal(failed.code, 2, String(words));
    assert.match(failed.stderr, expected);
  }
});

/** The page's commands, but for those that start the stack or pack libraries. */
async function commandsOf(page: string): Promise<string> {
  const text = await readFile(join(folder, "../../..", page), "utf8");
  const blocks = [...text.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
  return blocks.filter((code) => !/^npm /m.test(code)).join("\n");
}

test("the commands of the README and the quickstart work word for word, and when they are repeated", async () => {
  const shop = await freshMerchant(running);
  const { gateway, processor, tls } = running;
  const dir = await tempDir("quickstart");
  await mkdir(join(dir, ".local"));
  const stack = { gateway, processor, tls, api_key: shop.apiKey };
  await writeFile(join(dir, ".local/stack.json"), JSON.stringify(stack));
  await symlink(join(folder, "../.."), join(dir, "gateway"));
  // The port alone differs: on this machine it may be in use.
  const port = String(await freePort());
  for (const page of ["README.md", "docs/quickstart.md", "README.md", "docs/quickstart.md"]) {
    const commands = (await commandsOf(page)).replaceAll("4443", port);
    const script = commands.replace("receive-webhooks.mjs &", `receive-webhooks.mjs ${port} &`);
    const child = spawn("bash", ["-c", script], { cwd: dir, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (printed += data));
    try {
      await eventually("the commands to end", () => child.exitCode !== null, { limitMs: 60_000 });
      await eventually("the order to be fulfilled", () => /^fulfilled: pay_/m.test(printed));
    } catch (error) {
      throw new Error(`${page}: ${printed}`, { cause: error });
    } finally {
      if (child.pid !== undefined) process.kill(-child.pid);
    }
    assert.doesNotMatch(printed, /"error"|undefined|Error|SIGNATURE WRONG|in use/, page);
  }
  const endpoints = (await shop.api.get("/v1/merchants/me/webhooks")).expect(200).list("data");
  assert.equal(endpoints.length, 1, "the endpoint is found again");
});

const goProgram = `package main

import (
	"encoding/json"
	"os"
	"time"
)

func main() {
	var read []struct{ Body, Header, Secret string }
	if json.NewDecoder(os.Stdin).Decode(&read) != nil {
		os.Exit(1)
	}
	genuine := []bool{}
	for _, each := range read {
		genuine = append(genuine, IsGenuine([]byte(each.Body), each.Header, each.Secret, 5*time.Minute))
	}
	json.NewEncoder(os.Stdout).Encode(genuine)
}
`;

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, [command === "go" ? "version" : "--version"], { stdio: "ignore", timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

/** The JSON that a program prints. */
async function printed(words: readonly string[], input: string, env: Record<string, string> = {}): Promise<unknown> {
  const [command = "", ...rest] = words;
  const running = run(command, rest, { timeout: 100_000, env: { ...process.env, ...env } });
  running.child.stdin?.end(input);
  return JSON.parse((await running).stdout);
}

test.run();
