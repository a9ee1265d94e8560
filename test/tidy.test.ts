// The rules of the house as code: who may import whom, no cycles, no dead files, names, file heads, fresh generated
// code. Each message names the file and the rule. Sizes are printed as a guide and fail nothing.
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as assert from "uvu/assert";
import { rows } from "./contract/rows.ts";
import { findCycle, reachableFiles, type SourceFile, sourceFiles } from "./harness/files/source-files.ts";
import { testFiles } from "./harness/run/select-files.ts";
import { suite } from "./harness/suite.ts";
import { tempDir } from "./harness/temp-dir.ts";
import { tierOf, tiers } from "./tiers.ts";

const root = join(import.meta.dirname, "..");
const columnsMax = 120;
const files = sourceFiles(root);
const code = files.filter((file) => !file.path.endsWith(".test.ts"));
const test = suite("tidy", { timeoutMs: 60_000 });

/** Fails with every offence at once, one a line. */
function none(offences: string[]): void {
  assert.ok(offences.length === 0, `\n  ${offences.join("\n  ")}`);
}

/** Service and room of a file: `services/payments/rules/fee.ts` is payments, rules. */
function locationOf(path: string): { service: string; room: string } {
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
    const own = locationOf(file.path).service;
    const allowed = [
      `services/${own}/`,
      ...(own === "simulator" ? [] : ["services/platform/", "services/services.ts", "proto/gen/"]),
      // They show merchants the same objects and files as the gateway.
      ...(own === "webhook" || own === "payments" ? ["services/public-json/"] : []),
      ...(own === "checkout" || own === "payments" ? ["services/archive/"] : []),
    ];
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

test("the gateway imports itself, the platform, the public JSON of objects and generated code", () => {
  const gateway = code.filter((file) => file.path.startsWith("gateway/"));
  const isForeign = (_: SourceFile, target: string) =>
    !/^(gateway\/|services\/(?:platform|public-json)\/|services\/services\.ts$|proto\/gen\/)/.test(target);
  none(offendingImports(gateway, isForeign, "the gateway calls services over RPC"));
});

test("a server library imports itself and Node, since it leaves the house alone", () => {
  const library = "gateway/clients/node/";
  const own = code.filter((file) => file.path.startsWith(library));
  none([
    ...offendingImports(own, (_, target) => !target.startsWith(library), "merchants have nothing else of ours"),
    ...own.flatMap(({ path, packages }) =>
      packages.filter((name) => !name.startsWith("node:")).map((name) => `${path} imports ${name}`),
    ),
    ...offendingImports(
      code.filter((file) => !file.path.startsWith(library)),
      (_, target) => target.startsWith(library),
      "the product does not stand on its callers' library",
    ),
  ]);
});

test("rules are pure, and stores know no flows, jobs or doors", () => {
  const own = code.filter((file) => file.path.startsWith("services/") && locationOf(file.path).service !== "simulator");
  const rules = own.filter((file) => locationOf(file.path).room === "rules");
  const stores = own.filter(
    (file) => ["store", "lists"].includes(locationOf(file.path).room) && locationOf(file.path).service !== "platform",
  );
  const beyondRules = (_: SourceFile, target: string) =>
    target.startsWith("proto/gen/") || !["rules", "values"].includes(locationOf(target).room);
  const beyondStore = (_: SourceFile, target: string) =>
    ["flows", "jobs", "rpc", "messages.ts", "connectors"].includes(locationOf(target).room);
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

/** Tables that more than one store file writes, by service, and why; every other has one. */
const sharedTables: Readonly<Record<string, { readonly files: readonly string[]; readonly why: string }>> = {
  "checkout.risk_decisions": {
    files: ["store/new-sessions.ts", "store/risk-decisions.ts"],
    why: "a session is inserted with the decision that let it in, in one statement",
  },
  "checkout.sessions": {
    files: ["store/new-sessions.ts", "store/sessions.ts"],
    why: "it is inserted with its event and its decision; its changes are another step",
  },
  "checkout.outbox": {
    files: ["store/new-sessions.ts", "store/sessions.ts"],
    why: "announced in the statement that opens or changes a session",
  },
  "payments.journal": {
    files: ["store/journal.ts", "store/refunds/refund-reservations.ts"],
    why: "a reservation is one statement",
  },
  "payments.outbox": {
    files: ["store/journal.ts", "store/refunds/refund-reservations.ts"],
    why: "announced in the statement that books",
  },
  "payments.operations": {
    files: [
      "store/endings.ts",
      "store/new-payments.ts",
      "store/operations.ts",
      "store/operator-queue.ts",
      "store/payments.ts",
      "store/refunds/refund-reservations.ts",
      "store/refunds/refunds.ts",
      "store/renewals.ts",
      "store/reroutes.ts",
    ],
    why: "begins and ends in the statement of what it makes; an operator parks and releases it",
  },
  "payments.operation_history": {
    files: ["store/operations.ts", "store/operator-queue.ts"],
    why: "the service's entries, and an operator's",
  },
  "payments.payments": {
    files: [
      "store/new-payments.ts",
      "store/payment-checks.ts",
      "store/payments.ts",
      "store/refunds/refund-reservations.ts",
      "store/reroutes.ts",
    ],
    why: "inserted with its operation; a move to another account; the reconcile job sets its next check; a reservation is one statement",
  },
  "payments.refunds": {
    files: ["store/refunds/refund-reservations.ts", "store/refunds/refunds.ts"],
    why: "a reservation is one statement",
  },
  "platform.outbox": {
    files: ["events/outbox.ts", "events/stream-record.ts", "service/recovery-store.ts"],
    why: "what a stream has lost is announced again; what a restore has lost comes back from the stream",
  },
  "webhook.deliveries": {
    files: ["store/attempts.ts", "store/deliveries.ts", "store/retry-runs.ts"],
    why: "a delivery leaves the queue when it ends and returns to it when it is retried, each in one statement",
  },
  "webhook.delivery_queue": {
    files: [
      ...["store/attempts.ts", "store/deliveries.ts", "store/delivery-queue.ts", "store/retry-runs.ts"],
      ...["store/awaited-objects.ts", "store/replay-runs.ts"],
    ],
    why: "the other half of the same statements; a replay moves its place with the deliveries that it queues",
  },
  "webhook.events": {
    files: ["store/delivery-queue.ts", "store/event-feed.ts"],
    why: "an event is inserted with its deliveries; its position follows when those before it are consumed",
  },
  "webhook.awaited_objects": {
    files: ["store/awaited-objects.ts", "store/delivery-queue.ts", "store/replay-runs.ts"],
    why: "inserted in the statement that consumes or replays the event",
  },
};
const writing = /\b(?:insert into|delete from) ([a-z_]+)|\bupdate ([a-z_]+)(?: [a-z])?\s+set\b/g;

test("a payment moves in one flow, and a table is written by one store file", () => {
  const services = code.filter(({ path }) => path.startsWith("services/") && locationOf(path).service !== "simulator");
  const movers = services.filter(({ text }) => /\bsavePayment\b/.test(text));
  const writes = services.flatMap(({ path, text }) =>
    [...withoutComments(text).matchAll(writing)].map(([, inserted, updated]) => ({
      table: `${locationOf(path).service}.${inserted ?? updated}`,
      file: path.split("/").slice(2).join("/"),
    })),
  );
  none([
    ...movers
      .filter(({ path }) => locationOf(path).room !== "store" && path !== "services/payments/flows/settle-payment.ts")
      .map(({ path }) => `${path}: a payment moves in flows/settle-payment.ts`),
    ...[...Map.groupBy(writes, ({ table }) => table)].flatMap(([table, found]) => {
      const files = [...new Set(found.map(({ file }) => file))].sort();
      const known = sharedTables[table]?.files ?? files.slice(0, 1);
      return files.filter((file) => !known.includes(file)).map((file) => `${file} writes ${table}, as ${known} does`);
    }),
  ]);
});

test("a service uses the database's clock", () => {
  // A certificate's time is the machine's, as in TLS itself.
  const byTheMachine = ["values/clock.ts", "database/sync-clock.ts", "secrets/certificate-file.ts"];
  const own = code.filter(({ path }) => path.startsWith("services/") && locationOf(path).service !== "simulator");
  none(
    own
      .filter(({ path }) => !byTheMachine.some((name) => path === `services/platform/${name}`))
      .filter(({ text }) => /Date\.now\(\)|new Date\(\)/.test(withoutComments(text)))
      .map(({ path }) => `${path}: clockMs() and clockNow() of platform/values/clock.ts, not the machine's Date`),
  );
});

test("what audits the books shares no arithmetic with what writes them", () => {
  const booking = (target: string) => /^services\/payments\/(rules|connectors|flows)\//.test(target);
  const audit = code.filter((file) => file.path.startsWith("services/payments/audit/"));
  const checkers = ["jobs/check-journal.ts", "store/ledger/journal-check.ts"].map(
    (name) => `services/payments/${name}`,
  );
  // The comparison of walks and chaos runs: independent, except that it includes the auditor's result.
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
    ...[...reachableFiles(code, entries)].filter(booking).map((path) => `${path} is reached from the auditor`),
    ...offendingImports(
      inCompared,
      (_, target) =>
        target.startsWith("services/") && !/\/audit\/|\/jobs\/check-journal\.ts$|\/rpc\/client\.ts$/.test(target),
      "the comparison takes nothing from the services but their answers and the auditor's opinion",
    ),
  ]);
});

test("a room of the platform imports only rooms above it in docs/architecture.md, and the platform names no service", () => {
  const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const [, table = ""] = page.split("## The platform, room by room");
  const rooms = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, room = ""]) => room);
  const platform = code.filter((file) => file.path.startsWith("services/platform/"));
  const roomOf = (path: string) => rooms.indexOf(locationOf(path).room);
  const isBelow = (file: SourceFile, target: string) =>
    target.startsWith("services/platform/") && roomOf(target) > roomOf(file.path);
  none([
    ...platform.filter(({ path }) => roomOf(path) === -1).map(({ path }) => `${path}: the table has no such room`),
    ...rooms.filter((_, at) => !platform.some(({ path }) => roomOf(path) === at)).map((room) => `${room} is empty`),
    ...offendingImports(platform, isBelow, "the room is below"),
    ...platform
      .filter(({ text }) => /"(checkout|merchant|webhook)"/.test(withoutComments(text)))
      .map(({ path }) => `${path} names a service: services/services.ts lists them`),
  ]);
});

test("the NATS client is imported in one file, so that its successor is a change there", () => {
  const importers = files.filter(({ text }) => /from "nats["/]/.test(withoutComments(text)));
  none(importers.map(({ path }) => path).filter((path) => path !== "services/platform/values/nats.ts"));
});

test("unchecked values are read as unknown, not by Object(), whose members are any", () => {
  const readsAsAny = ({ path, text }: SourceFile) =>
    !/\/(members|unchecked)\.ts$/.test(path) && /(?<![\w.])Object\(/.test(withoutComments(text));
  none(code.filter(readsAsAny).map(({ path }) => `${path}: membersOf(value) of services/platform/values/unchecked.ts`));
});

test("a lock of a mapped row uses a named mode", () => {
  const numbered = files.filter(({ text }) => /lockMode: *\d/.test(withoutComments(text)));
  none(numbered.map(({ path }) => `${path}: LockMode.PESSIMISTIC_WRITE; 4 is SKIP LOCKED`));
});

test("a page is found by its time, and by more than that among equal times: rows are not compared", () => {
  const comparesRows = ({ text }: SourceFile) => /\([\w.]+_at, [\w.]+\) *[<>]/.test(withoutComments(text));
  none(code.filter(comparesRows).map(({ path }) => `${path}: behindText of services/platform/lists/cursor.ts`));
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
  const used = reachableFiles(files, [...entries, ...commands]);
  none(code.filter((file) => !used.has(file.path)).map((file) => `${file.path} is not imported`));
});

test("a folder of what runs holds twenty files at most, and more than one", () => {
  const products = code.filter(({ path }) => /^(services|gateway)\//.test(path));
  const counts = [...Map.groupBy(products, ({ path }) => dirname(path))].map(([folder, held]) => ({ folder, held }));
  const isLonely = ({ folder, held }: (typeof counts)[number]) =>
    !/^services$|^gateway\/(?:clients|site)\/|\/texts$/.test(folder) && held.length === 1;
  none([
    ...counts.filter(({ held }) => held.length > 20).map(({ folder, held }) => `${folder}: ${held.length} files`),
    ...counts.filter(isLonely).map(({ folder }) => `${folder} holds one file`),
  ]);
});

test("every test file is in the quick or the full tier, and every line of test/tiers.ts is about one", () => {
  const paths = testFiles(root);
  none([
    ...paths.flatMap((path) => (tierOf(path) === undefined ? [`${path}: no line of test/tiers.ts is about it`] : [])),
    ...Object.keys(tiers).filter((beginning) => !paths.some((path) => path.startsWith(beginning))),
  ]);
});

test("a folder of what tests stand on holds twenty files at most", () => {
  const harness = files.filter(({ path }) => path.startsWith("test/harness/"));
  const counts = Map.groupBy(harness, ({ path }) => dirname(path));
  none([...counts].filter(([, held]) => held.length > 20).map(([folder, held]) => `${folder}: ${held.length} files`));
});

test("names are kebab-case and not vague", () => {
  const vague = /^(utils?|helpers?|common|misc|manager|base|impl|types|constants|index)$/;
  const offences = files.flatMap(({ path }) => {
    const parts = path.split("/").map((segment) => segment.replace(/(\.test)?\.ts$/, ""));
    return [
      ...parts.filter((segment) => vague.test(segment)).map((segment) => `${path}: "${segment}" is vague`),
      ...parts
        .filter((segment) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(segment))
        .map((segment) => `${path}: "${segment}" is not kebab-case`),
    ];
  });
  none(offences);
});

const recordsMax = 45;
const recordLinesMax = 40;
/** Heading, status and sections of a decision record; groups: number, title, date. */
const recordForm = new RegExp(
  [
    String.raw`^# (\d{4})\. (.+)`,
    String.raw`Status: (?:accepted|superseded by \d{4}), (20\d\d-\d\d-\d\d)`,
    "## Context",
    "[^]+?",
    "## Decision",
    "[^]+?",
    "## Consequences",
    "[^]+$",
  ].join("\n\n"),
);

test("a decision record has its own number, the form of docs/decisions/README.md, and a line in its table", () => {
  const folder = join(root, "docs/decisions");
  const table = readFileSync(join(folder, "README.md"), "utf8");
  const names = globSync("*", { cwd: folder }).filter((name) => name !== "README.md");
  const numbers = names.map((name) => name.slice(0, 4));
  none([
    ...names.filter((name) => !/^\d{4}(-[a-z0-9]+)+\.md$/.test(name)).map((name) => `${name}: NNNN-kebab-title.md`),
    ...numbers.filter((number, at) => numbers.indexOf(number) !== at).map((number) => `${number} names two records`),
    ...(names.length > recordsMax ? [`${names.length} records, at most ${recordsMax}`] : []),
    ...names.flatMap((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      const lines = text.trimEnd().split("\n");
      const [, number = "", title = "", date = ""] = recordForm.exec(text) ?? [];
      return [
        ...(name.slice(0, 4) === number ? [] : [`${name}: heading, status or sections differ from the form`]),
        ...(lines.length > recordLinesMax ? [`${name}: ${lines.length} lines, at most ${recordLinesMax}`] : []),
        ...(lines.some((line) => line.length > columnsMax) ? [`${name}: more than ${columnsMax} columns`] : []),
        ...(table.includes(`| [${number}](${name}) | ${title} | ${date} |`) ? [] : [`${name}: no line in README.md`]),
      ];
    }),
  ]);
});

test("no comment is wider than the code", () => {
  // Which rules of the contract a test proves is one line, which another test reads.
  const isWide = (line: string) =>
    line.length > columnsMax && /^\s*(?:\/\/|\/?\*)/.test(line) && !/^\/\/ Proves /.test(line);
  none(
    files.flatMap(({ path, text }) =>
      text
        .split("\n")
        .flatMap((line, i) => (isWide(line) ? [`${path}:${i + 1}: more than ${columnsMax} columns`] : [])),
    ),
  );
});

test("every file opens with one to four comment lines", () => {
  const offences = code.flatMap(({ path, text }) => {
    const lines = text.replace(/^#!.*\n/, "").split("\n");
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
    none(
      names
        .filter((name) => wanted.get(name) !== committed.get(name))
        .map((name) => `${name}: run npm run generate -- proto`),
    );
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
});

/** Differences from the last release that callers of 0.1.0 survive: an answer's field names are not in its bytes. */
const declaredBreaks = [
  /idempotency_level" from "IDEMPOTENCY_UNKNOWN" to "IDEMPOTENT"/,
  /"GetActiveConnectorAccountResponse" changed .*"fallbacks"/,
  /"ListPaymentsResponse" changed type from "payments\.v1\.Payment" to "payments\.v1\.ListedPayment"/,
];

test("the protos take nothing from the callers of the last release that is not declared here", () => {
  const against = "docs/releases/proto-0.1.0.binpb.gz";
  const { stdout } = spawnSync(join(root, "node_modules/.bin/buf"), ["breaking", "--against", against], { cwd: root });
  const found = stdout.toString().split("\n").filter(Boolean);
  none(found.filter((line) => !declaredBreaks.some((declared) => declared.test(line))));
  none(declaredBreaks.filter((declared) => !found.some((line) => declared.test(line))).map((each) => `gone: ${each}`));
});

test("every rule of the contract is proved by a test that names it, and none names another", () => {
  const known = Object.entries(rows).flatMap(([section, facts]) => facts.map((row) => `${section}: ${row}`));
  const proved = new Set<string>();
  const offences: string[] = [];
  for (const { path, text } of files.filter((file) => file.path.endsWith(".test.ts"))) {
    for (const [, list = "", next = ""] of text.matchAll(/^\/\/ Proves (.*)\n(.*)/gm)) {
      if (!/^\w+\(/.test(next)) offences.push(`${path}: no test follows "Proves ${list}"`);
      for (const clause of list.split("; ")) {
        const [section = "", facts = ""] = clause.split(": ");
        for (const row of facts.split(", ")) {
          if (known.includes(`${section}: ${row}`)) proved.add(`${section}: ${row}`);
          else offences.push(`${path} proves "${section}: ${row}", which test/contract/rows.ts does not have`);
        }
      }
    }
  }
  none([...offences, ...known.filter((row) => !proved.has(row)).map((row) => `${row}: no test proves it`)]);
});

// Programs for other platforms, whose hashes were not available where the lock file was made. To remove one:
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

/** Lines by `wc -l`, and files. A change that makes something smaller lowers its number here. */
const budgets = {
  product: 102_450,
  platform: 9_000,
  platformFiles: 73,
  /** Lines of tests for each line of the product. */
  testShare: 0.87,
  /** Lines of the longest file of the product. */
  longest: 300,
};

test("sizes stay within their budgets", () => {
  const linesOf = ({ text }: SourceFile) => text.split("\n").length - 1;
  const sumOf = (some: readonly SourceFile[]) => some.reduce((sum, file) => sum + linesOf(file), 0);
  const isTest = ({ path }: SourceFile) => path.startsWith("test/") || path.endsWith(".test.ts");
  const product = files.filter((file) => !isTest(file));
  const platform = product.filter(({ path }) => path.startsWith("services/platform/"));
  const sizes = {
    product: sumOf(product),
    platform: sumOf(platform),
    platformFiles: platform.length,
    testShare: sumOf(files.filter(isTest)) / sumOf(product),
    longest: Math.max(...product.map(linesOf)),
  };
  const names = Object.keys(budgets) as (keyof typeof budgets)[];
  console.log(`\n  ${names.map((name) => `${name} ${Math.round(sizes[name] * 1_000) / 1_000}`).join(", ")}`);
  none(names.filter((name) => sizes[name] > budgets[name]).map((name) => `${name}: at most ${budgets[name]}`));
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}

test.run();
