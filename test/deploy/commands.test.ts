// Every command of package.json explains itself and refuses unknown arguments without starting anything.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nouns } from "../../deploy/cli/nouns.ts";
import { runCommandLine } from "../../deploy/cli/run-command-line.ts";
import { suite } from "../harness/suite.ts";

const root = join(import.meta.dirname, "../..");
const scripts: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts;
const proofs = "walk chaos failover vanish restore alarms soak crash-points rollout release-compat mutants".split(" ");
const benches = ["flows", "webhooks"];
const generators = ["proto", "web", "clients", "broker-rights", "tables", "docs"];
const test = suite("commands", { timeoutMs: 120_000 });

interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A script of package.json with arguments, run by this Node. */
function run(script: string, ...words: string[]): Promise<CommandResult> {
  const [file = "", ...own] = (scripts[script] ?? "").replace("node deploy/local/bootstrap.cjs ", "").split(" ");
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [file, ...own, ...words], { cwd: root, timeout: 30_000 }, (_, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

// `format` is the formatter's own command.
const own = Object.keys(scripts).filter((name) => name !== "format");
const chosen = [
  ...proofs.map((name) => ["prove", name] as const),
  ...benches.map((name) => ["bench", name] as const),
  ...generators.map((name) => ["generate", name] as const),
];

const commands = [...own.map((name) => [name] as const), ...chosen];
const atOnce = 4;

/** Runs each command in a child process, a few at a time. */
async function each(check: (command: readonly [string, ...string[]]) => Promise<void>): Promise<void> {
  const waiting = [...commands];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await check(next);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

test("each command prints its usage on --help", async () => {
  await each(async ([script, ...words]) => {
    const { code, out, err } = await run(script, ...words, "--help");
    const name = [script, ...words].join(" ");
    assert.deepEqual([code, err], [0, ""], name);
    assert.match(out, script === "tollbooth" ? /^usage: tollbooth / : /npm (run|start|test)\b/, name);
  });
});

test("each command refuses an unknown option without a stack trace", async () => {
  await each(async ([script, ...words]) => {
    const { code, out, err } = await run(script, ...words, "--nonsense");
    const name = [script, ...words].join(" ");
    assert.deepEqual([code, out], [2, ""], `${name}: ${err}`);
    assert.match(err, /^there is no option --nonsense; did you mean --[a-z-]+\n/, name);
    assert.ok(!/\n {4}at /.test(err), err);
  });
});

test("suggests the nearest option, name or type for a misspelt one", async () => {
  const slips: readonly (readonly [string, readonly string[], string])[] = [
    ["listen", ["--foward-to", "http://localhost:1"], "--foward-to; did you mean --forward-to"],
    ["test", ["--onyl=unit"], "--onyl; did you mean --only"],
    ["prove", ["wlak"], "wlak; did you mean walk"],
    ["generate", ["protos"], "protos; did you mean proto"],
    ["trigger", ["payment.suceeded"], "payment.suceeded; did you mean payment.succeeded"],
    ["tollbooth", ["payment", "show"], "payment; did you mean payments"],
    ["tollbooth", ["payments", "shwo"], "shwo; did you mean show"],
  ];
  for (const [script, args, hint] of slips) {
    const { code, err } = await run(script, ...args);
    assert.equal(code, 2, err);
    assert.ok(err.split("\n")[0]?.endsWith(hint), err);
  }
});

test("every noun and verb of tollbooth explains itself and refuses unknown arguments with its usage", async () => {
  for (const [noun, verbs] of Object.entries(nouns)) {
    const help = await words(noun, "--help");
    assert.equal(help.code, 0, help.err);
    for (const verb of Object.keys(verbs)) {
      const name = `tollbooth ${`${noun} ${verb}`.trim()}`;
      assert.ok(help.out.includes(name), `${name}\n${help.out}`);
      const wrong = await words(noun, ...(verb === "" ? [] : [verb]), "--nonsense");
      assert.equal(wrong.code, 2, name);
      assert.match(wrong.err, /^there is no option --nonsense; did you mean --[a-z-]+ \(tollbooth /, name);
    }
    const wrong = await words(noun, "nonsense");
    assert.equal(wrong.code, 2, noun);
    assert.match(wrong.err, /tollbooth /, noun);
  }
});

/** A `tollbooth` command in this process; only for help and refusals. */
async function words(...argv: string[]): Promise<CommandResult> {
  const printed = { out: "", err: "" };
  const output = {
    log: (text: string) => void (printed.out += text),
    error: (text: string) => void (printed.err += text),
  };
  return { code: await runCommandLine(argv, output), ...printed };
}

test.run();
