// The rules of the house as code: who may import whom, no cycles, no dead files, names, file heads, fresh generated code. Each
// message names the file and the rule. Sizes are printed as a guide and fail nothing.
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import * as assert from "uvu/assert";
import { rpcPages } from "../deploy/rpc-pages.ts";
import { releaseVersion } from "../gateway/release.ts";
import { bundle } from "../gateway/web/build.ts";
import { rows } from "./contract/rows.ts";
import { findCycle, reachable, type SourceFile, sourceFiles } from "./harness/source-files.ts";
import { suite } from "./harness/suite.ts";
import { tempDir } from "./harness/temp-dir.ts";

const root = join(import.meta.dirname, "..");
const files = sourceFiles(root);
const code = files.filter((file) => !file.path.endsWith(".test.ts"));
const test = suite("tidy", { timeoutMs: 60_000 });

/** Fails with every offence at once, one a line. */
function none(offences: string[]): void {
  assert.ok(offences.length === 0, `\n  ${offences.join("\n  ")}`);
}

/** Service and room of a file: `services/payments/rules/fee.ts` is payments, rules. */
function placeOf(path: string): { service: string; room: string } {
  const [top = "", second = "", third = ""] = path.split("/");
  if (top !== "services") return { service: top, room: "" };
  return { service: second, room: third.endsWith(".ts") ? third : (third.split("/")[0] ?? "") };
}

function offendingImports(from: SourceFile[], isOffence: (file: SourceFile, target: string) => boolean, rule: string) {
  return from.flatMap((file) =>
    file.imports.filter((target) => isOffence(file, target)).map((target) => `${file.path} imports ${target}: ${rule}`),
  );
}

test("a service imports itself, the platform and generated code, and no other service", () => {
  const services = code.filter((file) => file.path.startsWith("services/"));
  const isForeign = (file: SourceFile, target: string) => {
    const own = placeOf(file.path).service;
    const allowed = [`services/${own}/`, ...(own === "simulator" ? [] : ["services/platform/", "proto/gen/"])];
    return !allowed.some((prefix) => target.startsWith(prefix));
  };
  none(
    offendingImports(
      services,
      isForeign,
      "services meet over RPC and events only; the simulator is an outside company",
    ),
  );
});

test("the gateway imports itself, the platform and generated code", () => {
  const gateway = code.filter((file) => file.path.startsWith("gateway/"));
  const isForeign = (_: SourceFile, target: string) => !/^(gateway|services\/platform|proto\/gen)\//.test(target);
  none(offendingImports(gateway, isForeign, "the gateway calls services over RPC"));
});

test("rules are pure, and stores know no flows, jobs or doors", () => {
  const own = code.filter((file) => file.path.startsWith("services/") && placeOf(file.path).service !== "simulator");
  const rules = own.filter((file) => placeOf(file.path).room === "rules");
  const stores = own.filter((file) => placeOf(file.path).room === "store");
  const beyondRules = (_: SourceFile, target: string) =>
    target.startsWith("proto/gen/") ||
    !["rules", "address-range.ts", "id.ts", "money.ts", "email.ts", "failure.ts"].includes(placeOf(target).room);
  const beyondStore = (_: SourceFile, target: string) =>
    ["flows", "jobs", "rpc.ts", "connectors"].includes(placeOf(target).room);
  none([
    ...offendingImports(rules, beyondRules, "a rule sees rules and pure platform helpers only"),
    ...offendingImports(stores, beyondStore, "a store sees its own rules and the platform only"),
    ...rules
      .filter((file) =>
        /\bawait\b|Date\.now\(|new Date\(\)|Math\.random\(|process\.env/.test(withoutComments(file.text)),
      )
      .map((file) => `${file.path}: a rule does not wait, and reads no clock, chance or environment`),
  ]);
});

test("what audits the books shares no arithmetic with what writes them", () => {
  const booking = (target: string) => /^services\/payments\/(rules|connectors|flows)\//.test(target);
  const audit = code.filter((file) => file.path.startsWith("services/payments/audit/"));
  const checkers = ["jobs/check-journal.ts", "store/journal-check.ts"].map((name) => `services/payments/${name}`);
  // The comparison of walks and chaos runs: an opinion of its own, which takes in the auditor's as another one.
  const compared = [
    "answer-checks",
    "expected-money",
    "money-checks",
    "money-truth",
    "payment-checks",
    "processor-truth",
    "promise-checks",
  ].map((name) => `test/chaos/${name}.ts`);
  const entries = [...audit.map(({ path }) => path), ...checkers];
  const beyondAudit = (_: SourceFile, target: string) =>
    !/^services\/payments\/audit\/|^services\/platform\/|^proto\/gen\//.test(target);
  const inCompared = code.filter((file) => compared.includes(file.path));
  none([
    ...entries
      .concat(compared)
      .filter((path) => !code.some((file) => file.path === path))
      .map((path) => `${path} is gone`),
    ...offendingImports(audit, beyondAudit, "the auditor has its own tables, arithmetic and SQL"),
    ...[...reachable(code, entries)].filter(booking).map((path) => `${path} is reached from the auditor`),
    ...offendingImports(
      inCompared,
      (_, target) => target.startsWith("services/") && !/\/audit\/|\/jobs\/check-journal\.ts$/.test(target),
      "the comparison takes nothing from the services but the auditor's opinion",
    ),
  ]);
});

test("nothing imports in a circle", () => {
  none([findCycle(files)?.join(" → ") ?? []].flat());
});

test("every file is used by a process, a command or a test", () => {
  const scripts: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts;
  const commands = JSON.stringify(scripts).match(/\b(?:deploy|gateway|test)\/[\w/-]+\.ts/g) ?? [];
  const entries = files
    .map((file) => file.path)
    .filter((path) => path.endsWith(".test.ts") || basename(path) === "main.ts");
  const used = reachable(files, [...entries, ...commands]);
  none(code.filter((file) => !used.has(file.path)).map((file) => `${file.path} is imported by nobody`));
});

test("names are kebab-case and say what a file owns", () => {
  const vague = /^(utils?|helpers?|common|misc|manager|base|impl|types|constants|index)$/;
  const offences = files.flatMap(({ path }) => {
    const parts = path.split("/").map((part) => part.replace(/(\.test)?\.ts$/, ""));
    return [
      ...parts.filter((part) => vague.test(part)).map((part) => `${path}: "${part}" says nothing`),
      ...parts
        .filter((part) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(part))
        .map((part) => `${path}: "${part}" is not kebab-case`),
    ];
  });
  none(offences);
});

test("every file opens with one to four lines that say its job", () => {
  const offences = code.flatMap(({ path, text }) => {
    const lines = text.split("\n");
    const head = lines.findIndex((line) => !line.startsWith("//"));
    return head >= 1 && head <= 4 ? [] : [`${path}: opens with ${Math.max(head, 0)} comment lines`];
  });
  none(offences);
});

test("the generated code is what the protos give", async () => {
  const fresh = await tempDir("generated");
  try {
    const buf = join(root, "node_modules/.bin/buf");
    const path = `${join(root, "node_modules/.bin")}:${process.env.PATH}`;
    execFileSync(buf, ["generate", "--template", "proto/buf.gen.yaml", "--output", fresh], {
      cwd: root,
      env: { ...process.env, PATH: path },
    });
    const read = (dir: string) => {
      const names = globSync("proto/gen/**/*.ts", { cwd: dir }).sort();
      return new Map(names.map((name) => [name, readFileSync(join(dir, name), "utf8")]));
    };
    const [wanted, committed] = [read(fresh), read(root)];
    const names = [...new Set([...wanted.keys(), ...committed.keys()])];
    none(names.filter((name) => wanted.get(name) !== committed.get(name)).map((name) => `${name}: run npm run proto`));
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
});

test("what browsers load is what its sources give", async () => {
  const wanted = await bundle();
  const dist = join(root, "gateway/web/dist");
  const committed = globSync(["page/*", `js/${releaseVersion()}/*`], { cwd: dist });
  const names = [...new Set([...wanted.keys(), ...committed])];
  const read = (name: string) => (committed.includes(name) ? readFileSync(join(dist, name), "utf8") : undefined);
  none(names.filter((name) => wanted.get(name) !== read(name)).map((name) => `${name}: run npm run web`));
});

test("the pages of the internal API are what the protos say", () => {
  const pages = rpcPages();
  const committed = globSync("docs/rpc/*.md", { cwd: root }).map((path) => basename(path));
  const names = [...new Set([...pages.keys(), ...committed])];
  const onDisk = (name: string) => (committed.includes(name) ? readFileSync(join(root, "docs/rpc", name), "utf8") : "");
  none(names.filter((name) => pages.get(name) !== onDisk(name)).map((name) => `docs/rpc/${name}: run npm run proto`));
});

test("every row of SPEC.md §4, §5, §7 and §8 is proved by a test that names it, and none names another", () => {
  const known = Object.entries(rows).flatMap(([section, facts]) =>
    Object.keys(facts).map((row) => `${section}: ${row}`),
  );
  const proved = new Set<string>();
  const offences: string[] = [];
  for (const { path, text } of files.filter((file) => file.path.endsWith(".test.ts"))) {
    for (const [, list = "", next = ""] of text.matchAll(/^\/\/ Proves (.*)\n(.*)/gm)) {
      if (!/^\w+\(/.test(next)) offences.push(`${path}: "Proves ${list}" stands above no test`);
      for (const part of list.split("; ")) {
        const [section = "", facts = ""] = part.split(": ");
        for (const row of facts.split(", ")) {
          if (known.includes(`${section}: ${row}`)) proved.add(`${section}: ${row}`);
          else offences.push(`${path} proves "${section}: ${row}", which test/contract/rows.ts does not have`);
        }
      }
    }
  }
  none([...offences, ...known.filter((row) => !proved.has(row)).map((row) => `${row}: no test proves it`)]);
});

// Programs of developers on other platforms, whose hashes nobody could ask for where the lock file was made. To take one off:
// `npm view <name>@<version> dist.integrity`, written into its entry as "integrity".
const unhashed = [
  "@biomejs/cli-android-arm64",
  "@biomejs/cli-android-x64",
  "@biomejs/cli-darwin-arm64",
  "@biomejs/cli-darwin-x64",
  "@biomejs/cli-linux-arm64-musl",
  "@biomejs/cli-linux-x64-musl",
  "@biomejs/cli-win32-arm64",
  "@biomejs/cli-win32-x64",
  "@bufbuild/buf-darwin-arm64",
  "@bufbuild/buf-darwin-x64",
  "@bufbuild/buf-linux-armv7",
  "@bufbuild/buf-win32-arm64",
  "@bufbuild/buf-win32-x64",
];

test("npm checks each package that it fetches by the lock file's hash, but for developers' programs of other platforms", () => {
  interface Entry {
    readonly integrity?: string;
    readonly resolved?: string;
    readonly dev?: boolean;
    readonly optional?: boolean;
  }
  const lock: { packages: Record<string, Entry> } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const entries = Object.entries(lock.packages).filter(([path]) => path !== "");
  assert.ok(entries.length > 300);
  const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
  const hasHash = ({ integrity = "" }: Entry) => /^sha512-[\w+/]{86}==$/.test(integrity);
  const without = entries.filter(([, entry]) => !hasHash(entry));
  none([
    ...without
      .filter(([path]) => !unhashed.includes(nameOf(path)))
      .map(([path]) => `${path}: no sha512 of its archive`),
    ...without.filter(([, { dev, optional }]) => !dev || !optional).map(([path]) => `${path}: part of what runs`),
    ...unhashed
      .filter((name) => !without.some(([path]) => nameOf(path) === name))
      .map((name) => `${name}: has its hash now; take it off the list`),
    ...entries
      .filter(([, { resolved = "https://registry.npmjs.org/" }]) => !resolved.startsWith("https://registry.npmjs.org/"))
      .map(([path, { resolved }]) => `${path}: comes from ${resolved}`),
  ]);
});

test("sizes, as a guide", () => {
  const sizes = code
    .map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
    .sort((a, b) => b.lines - a.lines);
  console.log(`\n  ${sizes.length} files, median ${sizes[sizes.length >> 1]?.lines} lines`);
  for (const { path, lines } of sizes.filter((size) => size.lines > 250)) console.log(`  ${path}: ${lines} lines`);
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}

test.run();
