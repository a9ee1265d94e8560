// The commands of the runbooks and of the operator's pages: each names an existing verb with existing options and runs
// in the image's environment, in a pod that has the settings that it needs. No page needs anything else.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, globSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { parse } from "yaml";
import { parseConfig, type Setting } from "#platform/process/config.ts";
import { serviceSettings } from "#platform/service/settings.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { bundlePrograms } from "../../deploy/bundle/bundle.ts";
import type { Command } from "../../deploy/cli/command.ts";
import { nouns } from "../../deploy/cli/nouns.ts";
import { operatorSettings } from "../../deploy/cli/peers.ts";
import { runCommandLine } from "../../deploy/cli/run-command-line.ts";
import { migrateSettings } from "../../deploy/cli/setup/migrate-all.ts";
import { programEnvironment } from "../../deploy/one/together.ts";
import { moneyAlertKinds } from "../../services/payments/metrics.ts";
import { durableConsumers, sources } from "../../services/services.ts";
import type { KubeObject } from "../harness/files/kube-schema.ts";
import {
  objectNamed,
  ofKind,
  overlays,
  renderOverlay,
  renderWith,
  testRendered,
  workloads,
} from "../harness/files/overlays.ts";
import { environmentOfContainer } from "../harness/servers/container-environment.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("runbooks", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const runbooks = globSync("deploy/runbooks/*.md", { cwd: root }).sort();
const pages = [...runbooks, "docs/operate.md", "docs/month-end.md", "docs/production.md"];
const textOf = (path: string) => readFileSync(join(root, path), "utf8");

/** A command that a page gives, in one line. */
interface Given {
  readonly page: string;
  readonly text: string;
}

/** Lines of fenced shell blocks, and spans of code in the text. */
function commandsOf(page: string): Given[] {
  const text = textOf(page);
  const blocks = [...text.matchAll(/^ *```bash\n([\s\S]*?)^ *```/gm)].map(([, block = ""]) => block);
  const lines = blocks.flatMap((block) => block.replace(/\\\n/g, "").split("\n"));
  const spans = [...text.replace(/^ *```[\s\S]*?^ *```/gm, "").matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
  return [...lines, ...spans].map((each) => ({ page, text: each.replace(/\s+/g, " ").trim() }));
}

const given = pages.flatMap(commandsOf);

/** The words as a shell passes them on. A placeholder is one word. */
function wordsOf(text: string): string[] {
  const plain =
    text
      .replace(/<[a-z][^<>]*>/g, "placeholder")
      .replace(/[[\]]/g, "")
      .split(/ [<>|#] /)[0] ?? "";
  return (plain.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^(['"])(.*)\1$/, "$2"));
}

/** A `tollbooth` command with the workload that it runs in. */
interface Run extends Given {
  readonly workload: string;
  readonly container: string;
  readonly args: readonly string[];
}

const inPod = /^kubectl -n tollbooth exec (?:-i )?deploy\/(\S+) -c (\S+) -- tollbooth (.+)$/;
/** On a machine with the operator's token, which has what the operator's pod has. */
const onMachine = /^(?:CONNECTOR_\S+ )*npm run (?:-s )?tollbooth -- (.+)$/;

const runs: readonly Run[] = given.flatMap((each) => {
  const [, workload = "operator", container = "app", args] = inPod.exec(each.text) ?? [];
  const line = args ?? onMachine.exec(each.text)?.[1];
  // `…`: any command.
  return line === undefined || line.startsWith("…") ? [] : [{ ...each, workload, container, args: wordsOf(line) }];
});

interface Named {
  readonly noun: string;
  readonly verb: string;
  readonly command: Command;
  readonly rest: readonly string[];
}

function commandOf({ page, text, args: [noun = "", verb = "", ...rest] }: Run): Named {
  const verbs = nouns[noun];
  assert(verbs, `${page}: there is no ${noun}: ${text}`);
  const alone = verbs[""];
  if (alone) return { noun, verb: "", command: alone, rest: [verb, ...rest].filter((word) => word !== "") };
  const command = verbs[verb];
  assert(command, `${page}: ${noun} has no ${verb}: ${text}`);
  return { noun, verb, command, rest };
}

test("every command of a page names an existing noun and verb, with existing options and all that are needed", () => {
  assert.ok(runs.length > 80, String(runs.length));
  for (const run of runs) {
    const { command, rest } = commandOf(run);
    if (rest.includes("--help")) continue;
    const options = new Map(Object.entries({ ...command.options, json: { about: "" } }));
    const named = new Set<string>();
    const words: string[] = [];
    for (let at = 0; at < rest.length; at++) {
      const word = rest[at] ?? "";
      if (!word.startsWith("--")) words.push(word);
      else {
        const option = options.get(word.slice(2));
        assert(option, `${run.page}: no option ${word}: ${run.text}`);
        named.add(word.slice(2));
        if ("value" in option && option.value !== undefined) assert.ok(rest[++at], `${run.page}: ${run.text}`);
      }
    }
    const args = command.args ?? [];
    const least = args.filter((each) => !each.startsWith("[")).length;
    // A page that speaks of a command in general leaves out what it works on.
    const isWhole = run.text.startsWith("kubectl");
    assert.ok(words.length <= args.length && (!isWhole || words.length >= least), `${run.page}: ${run.text}`);
    const lacking = Object.entries(command.options ?? {}).filter(([name, { needed }]) => needed && !named.has(name));
    if (isWhole)
      assert.deepEqual(
        lacking.map(([name]) => name),
        [],
        `${run.page}: ${run.text}`,
      );
  }
});

test("a runbook names the pod of every command, and asks for no other program, no SQL on rows, no source file", () => {
  const offences = given
    .filter(({ page }) => page.startsWith("deploy/runbooks/") && basename(page) !== "README.md")
    .filter(({ text }) => {
      const asks = [...text.matchAll(/\b(?:from|join|update|into) ([a-z_]+)/g)].map(([, table = ""]) => table);
      const isSql = /\b(?:select|update|insert|delete) /.test(text) && !text.startsWith("kubectl -n tollbooth delete");
      return (
        /^(?:npm run tollbooth|tollbooth |npx )/.test(text) ||
        /^nats |\bnsc\b/.test(text) ||
        (isSql && asks.some((table) => !table.startsWith("pg_"))) ||
        /\.(?:ts|sql)\b/.test(text)
      );
    });
  assert.deepEqual(
    offences.map(({ page, text }) => `${page}: ${text}`),
    [],
  );
  const bare = given.filter(
    ({ page, text }) =>
      page.startsWith("deploy/runbooks/") &&
      /^kubectl (?:get|logs|exec|describe|edit|rollout|scale|annotate|wait|delete) /.test(text) &&
      !/^kubectl get (?:pv|storageclass)\b/.test(text),
  );
  assert.deepEqual(
    bare.map(({ page, text }) => `${page}: ${text} names no namespace`),
    [],
  );
});

/** Workloads of all overlays, production's first. */
function workloadNamed(name: string, kinds: readonly string[]): { objects: readonly KubeObject[]; found: KubeObject } {
  for (const overlay of [...overlays].reverse()) {
    const objects = renderOverlay(overlay);
    const found = workloads(objects).find(({ kind, metadata }) => kinds.includes(kind) && metadata.name === name);
    if (found) return { objects, found };
  }
  return assert.fail(`no overlay has a workload ${name}`);
}

testRendered(test, "every object that a command names exists in an overlay", () => {
  const objects = [...overlays].flatMap((overlay) => renderOverlay(overlay));
  const kinds: Readonly<Record<string, string>> = {
    ...{ deploy: "Deployment", deployment: "Deployment", statefulset: "StatefulSet", job: "Job", secret: "Secret" },
    ...{ hpa: "HorizontalPodAutoscaler", scaledobject: "ScaledObject" },
    ...{ networkpolicy: "NetworkPolicy", podmonitor: "PodMonitor" },
  };
  const isThere = (kind: string, name: string) =>
    objects.some((each) => each.kind === kind && each.metadata.name === name) ||
    // The store of secrets brings them, or `secrets manifests`.
    (kind === "Secret" && objects.some(({ spec }) => spec?.target?.name === name));
  // A page may make jobs of its own from a cron job.
  const made = given.map(({ text }) => /create job ([a-z-]+) --from=cronjob\/([a-z-]+)/.exec(text));
  const jobs = new Set(made.flatMap((match) => (match && isThere("CronJob", match[2] ?? "") ? [match[1]] : [])));
  for (const { page, text } of given.filter((each) => each.text.startsWith("kubectl -n tollbooth "))) {
    for (const [, kind = "", name = ""] of text.matchAll(
      /\b(deploy|deployment|statefulset|job|secret|hpa|scaledobject|networkpolicy|podmonitor)[/ ]([a-z][a-z-]*[a-z])(?= |$)/g,
    ))
      assert.ok(
        isThere(kinds[kind] ?? "", name) || (kind === "job" && jobs.has(name)),
        `${page}: there is no ${kind} ${name}: ${text}`,
      );
    const [, label] = /app\.kubernetes\.io\/name=([a-z-]+)/.exec(text) ?? [];
    if (label === undefined) continue;
    const { found } = workloadNamed(label, ["Deployment", "StatefulSet", "Job", "CronJob"]);
    const [, container] = / -c ([a-z]+)/.exec(text) ?? [];
    const names = found.spec.template.spec.containers.map((each: { name: string }) => each.name);
    if (container !== undefined) assert.ok(names.includes(container), `${page}: ${text}`);
  }
});

test("every text that a page searches in the logs is one that the code writes", () => {
  const texts = given.flatMap(({ page, text }) => {
    const [, service = "", quoted = ""] = /name=([a-z]+) .*\| grep '([^']+)'/.exec(text) ?? [];
    // `"field":"value"` is of the log's format.
    return /^[\w /-]+$/.test(quoted) ? [{ page, service, quoted }] : [];
  });
  assert.ok(texts.length > 15, String(texts.length));
  const sources = globSync("{services,gateway}/**/*.ts", { cwd: root }).filter((path) => !path.endsWith(".test.ts"));
  const written = sources.map((path) => ({ path, text: textOf(path) }));
  for (const { page, service, quoted } of texts) {
    const own = ["services/platform/", service === "gateway" ? "gateway/" : `services/${service}/`];
    const isWritten = written.some(
      ({ path, text }) => own.some((room) => path.startsWith(room)) && text.includes(quoted),
    );
    assert.ok(isWritten, `${page}: ${service} writes no "${quoted}"`);
  }
});

const { DATABASE_URL, ENCRYPTION_KEYS } = serviceSettings;
/** Settings of the commands that call no service; the others need the operator's. */
const ownNeeds: Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>> = {
  "journal check": { DATABASE_URL },
  "reencrypt ": { DATABASE_URL, ENCRYPTION_KEYS },
  "encryption-keys use": { DATABASE_URL },
  "tokens new": {},
  "tokens nkey": {},
  "tokens event-key": {},
  "secrets manifests": {},
  "secrets rotate": {},
  "release verify": {},
};

testRendered(
  test,
  "every command runs in its pod's environment, from the bundle and entry of the image, without a shell",
  async () => {
    const image = await tempDir("image");
    const secrets = await tempDir("secrets");
    try {
      await bundlePrograms(root, ["deploy/cli/main.ts"], join(image, "bundle"));
      for (const file of ["deploy/image/main.ts", "deploy/bundle/programs.ts"])
        cpSync(join(root, file), join(image, file));
      const entry = join(image, "deploy/image/main.ts");
      const tried = new Map<string, readonly string[]>();
      const pods = new Map<string, Record<string, string>>();
      const podOf = (name: string, container: string) => {
        const { objects, found } = workloadNamed(name, ["Deployment"]);
        assert.equal(found.spec.template.spec.containers[0].name, container, name);
        const env = pods.get(name) ?? environmentOfContainer(objects, found, join(secrets, name));
        pods.set(name, env);
        return env;
      };
      // README.md: in the small overlay the same commands run in `one`.
      for (const service of sources)
        assert.deepEqual(
          parseConfig(ownNeeds["reencrypt "] ?? {}, programEnvironment(service, podOf("one", "app"))).problems,
          [],
        );
      for (const run of runs) {
        const { noun, verb, command, rest } = commandOf(run);
        const env = podOf(run.workload, run.container);
        const service = rest[rest.indexOf("--service") + 1] ?? "";
        const named = rest.includes("--service") ? service : "payments";
        const isHelp = rest.includes("--help");
        const needs = command.isAlone ? ownNeeds[`${noun} ${verb}`] : operatorSettings;
        assert.ok(isHelp || needs, `${run.page}: what ${noun} ${verb} needs is not listed here`);
        // A page of docs may be read on any machine.
        if (needs && !isHelp && inPod.test(run.text)) {
          const { problems } = parseConfig(needs, programEnvironment(named, env));
          assert.deepEqual(problems, [], `${run.page}: the pod of ${run.workload} lacks settings: ${run.text}`);
          if (noun === "journal" && command.isAlone) assert.equal(run.workload, "payments", run.text);
          if (rest.includes("--service")) assert.equal(run.workload, service, run.text);
        }
        const words = [noun, verb].filter((word) => word !== "").join(" ");
        const asked = `${run.workload} ${noun}`;
        tried.set(asked, [...(tried.get(asked) ?? []), words]);
      }
      const tasks = [...tried].map(([asked, wanted]) => async () => {
        const [workload = "", noun = ""] = asked.split(" ");
        const env = { ...imageEnvironment(image), ...pods.get(workload) };
        const help = await runIn(env, [entry, noun, "--help"]);
        for (const words of wanted) assert.ok(help.includes(`tollbooth ${words}`), `${words} in ${workload}: ${help}`);
      });
      await atOnce(4, tasks);
    } finally {
      for (const dir of [image, secrets]) await rm(dir, { recursive: true, force: true });
    }
  },
);

/** Variables that the Dockerfile sets. */
function imageEnvironment(folder: string): Record<string, string> {
  const text = textOf("deploy/image/Dockerfile");
  const [, lines = ""] = /^ENV (NODE_ENV=[\s\S]*?[^\\])\n/m.exec(text) ?? assert.fail("the image sets no variables");
  const pairs = [...lines.matchAll(/([A-Z_]+)=(\S+)/g)];
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value.replace("/app/", `${folder}/`)]));
}

/** Node as the container runs it: these variables and no PATH. */
function runIn(env: Record<string, string>, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env, cwd: "/", timeout: 30_000 }, (error, out, err) =>
      error ? reject(new Error(`${args.join(" ")}: ${err}`)) : resolve(out),
    );
  });
}

async function atOnce(count: number, tasks: (() => Promise<void>)[]): Promise<void> {
  const worker = async () => {
    for (let task = tasks.shift(); task; task = tasks.shift()) await task();
  };
  await Promise.all(Array.from({ length: count }, worker));
}

testRendered(
  test,
  "the job that remakes a consumer runs with migrate's rights, and its command is accepted",
  async () => {
    const [, file = ""] = /```yaml\n([\s\S]*?)```/.exec(textOf("deploy/runbooks/events-unconsumed.md")) ?? [];
    const { resources, patches } = parse(file.replace(/^ {3}/gm, ""));
    assert.deepEqual(resources, ["../my-overlay"]);
    for (const overlay of overlays) {
      const objects = await renderWith(`overlays/${overlay}`, [], patches);
      const job = objectNamed(objects, "Job", "migrate");
      const [{ args }] = job.spec.template.spec.containers;
      assert.deepEqual(args.slice(0, 2), ["migrate", "--remake-consumer"], overlay);
      assert.ok(
        Object.values(durableConsumers).some(({ source, name }) => args[2] === `${source}/${name}`),
        args[2],
      );
      const folder = await tempDir("migrate");
      const env = environmentOfContainer(objects, job, folder);
      assert.deepEqual(parseConfig(migrateSettings, env).problems, [], overlay);
      await rm(folder, { recursive: true });
      // Without settings it gets as far as reading them.
      const printed: string[] = [];
      const output = { log: () => {}, error: (text: string) => void printed.push(text) };
      assert.equal(await runCommandLine(args, output), 1);
      assert.match(printed.join("\n"), /CHECKOUT_DATABASE_URL is missing/);
    }
    // `-l app.kubernetes.io/name=migrate` of the page applies the job and its account alone.
    const ofMigrate = ofKind(renderOverlay("production"), "Job").filter(
      ({ metadata }) => membersOf(metadata.labels)["app.kubernetes.io/name"] === "migrate",
    );
    assert.deepEqual(
      ofMigrate.map(({ metadata }) => metadata.name),
      ["migrate"],
    );
  },
);

test("the page of TollboothMoneyInvariant has a step for each kind that the code can raise, and no other", () => {
  const page = textOf("deploy/runbooks/money-invariant.md");
  const steps = [...page.matchAll(/^ +- `([a-z_]+)` \(([^)]+)\):\s/gm)].map(([, kind = ""]) => kind);
  assert.deepEqual(steps.sort(), [...moneyAlertKinds].sort());
});

test.run();
