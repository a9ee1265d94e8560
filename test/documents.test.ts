// The pages that people read: each link leads somewhere, each citation names a section that is there, the README stays
// short, and the page of settings has exactly the settings that processes read.
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { processSettings } from "#platform/process/process.ts";
import { nouns } from "../deploy/cli/nouns.ts";
import { migrateSettings } from "../deploy/cli/setup/migrate-all.ts";
import { filledGuides } from "../deploy/generate/guide-blocks.ts";
import { stackSettings } from "../deploy/local/settings.ts";
import { consoleSettings } from "../gateway/console/settings.ts";
import { gatewaySettings } from "../gateway/settings.ts";
import { checkoutSettings } from "../services/checkout/settings.ts";
import { merchantSettings, peopleSettings } from "../services/merchant/settings.ts";
import { paymentsSettings } from "../services/payments/settings.ts";
import { webhookSettings } from "../services/webhook/settings.ts";
import { suite } from "./harness/suite.ts";

const root = join(import.meta.dirname, "..");
const test = suite("documents");
const readmeLinesMax = 130;

const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const pages = ["*.md", "{docs,deploy,gateway,services,test}/**/*.md"].flatMap((glob) => globSync(glob, { cwd: root }));
/** Where something is cited: every file that a person writes. */
const sources = ["services", "gateway", "deploy", "test", "proto"]
  .flatMap((room) => globSync(`${room}/**/*.{ts,proto,sql,yaml,md}`, { cwd: root }))
  .filter((path) => !/^proto\/(gen|google|buf|grpc)\/|\/dist\//.test(path));

test("every link of a page leads to a file that is there", () => {
  const dead = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\]\((?!https?:)([^)#\s]+)/g)]
      .filter(([, target = ""]) => !existsSync(join(root, dirname(page), target)))
      .map(([, target]) => `${page}: ${target}`),
  );
  assert.deepEqual(dead, []);
});

test("lines of the main pages have at most 160 columns, but for tables; the pages of docs have at most 37,900 words", () => {
  const main = pages.filter((page) => [".", "docs"].includes(dirname(page)));
  const wide = main.flatMap((page) =>
    textOf(page)
      .split("\n")
      .flatMap((line, at) => ([...line].length > 160 && !line.trim().startsWith("|") ? [`${page}:${at + 1}`] : [])),
  );
  assert.deepEqual(wide, []);
  const words = main.filter((page) => dirname(page) === "docs").flatMap((page) => textOf(page).split(/\s+/));
  assert.ok(words.length <= 37_900, `${words.length} words`);
});

test("every file that a page names is there", () => {
  const readers = ["README.md", "CONTRIBUTING.md", ...globSync("docs/**/*.md", { cwd: root })];
  const rooms = ["services", "gateway", "deploy", "test", "proto", "docs", "changes"];
  const files = rooms.flatMap((room) => globSync(`${room}/**/*.*`, { cwd: root })).map((path) => `/${path}`);
  // Where a page has named the folder, it names the end of the path.
  const isThere = (name: string) => files.some((file) => file.endsWith(`/${name}`));
  const gone = readers.flatMap((page) =>
    [...textOf(page).matchAll(/`((?:[\w-][\w.-]*\/)+[\w.-]+\.[a-z]{2,5})`/g)]
      .filter(([, name = ""]) => !isThere(name))
      .map(([, name]) => `${page}: ${name}`),
  );
  assert.deepEqual(gone, []);
});

test("tables and samples in the guides equal the code's", () => {
  const stale = [...filledGuides()].filter(([path, text]) => textOf(path) !== text);
  assert.deepEqual(
    stale.map(([path]) => `${path}: run npm run generate -- tables`),
    [],
  );
});

test("every citation names a page and a section that are there", () => {
  const sections = (page: string) => new Set([...textOf(page).matchAll(/^## (\d+)\. /gm)].map(([, number]) => number));
  const wrong = [...sources, ...pages].flatMap((path) =>
    [...textOf(path).matchAll(/\b(docs\/[\w/-]+\.md)((?:(?:,| and)? §\d+)*)/g)].flatMap(
      ([cited, page = "", list = ""]) => {
        if (!existsSync(join(root, page))) return [`${path}: ${page}`];
        const missing = [...list.matchAll(/§(\d+)/g)].filter(([, number]) => !sections(page).has(number));
        return missing.map(() => `${path}: ${cited}`);
      },
    ),
  );
  assert.deepEqual(wrong, []);
});

test("nothing cites papers that are not in the repository", () => {
  const foreign = /\b(SPEC|CONTRACT|HOUSE)\.md\b/;
  // A migration that has run keeps its text, and this test names them.
  const mayName = (path: string) => path.endsWith(".sql") || path === "test/documents.test.ts";
  assert.deepEqual(
    [...sources, ...pages].filter((path) => !mayName(path) && foreign.test(textOf(path))),
    [],
  );
});

/** Commands of a container other than the nouns. */
const processes = [
  "gateway",
  "console",
  "checkout",
  "payments",
  "merchant",
  "webhook",
  "simulator",
  "one",
  "idle",
  "warm",
];
const isCommand = (noun: string, verb: string) =>
  (verb === "" && processes.includes(noun)) ||
  (noun in nouns && (verb === "" || verb in (nouns[noun] ?? {}) || "" in (nouns[noun] ?? {})));

const choosers = { prove: "test/prove.ts", bench: "test/bench.ts", generate: "deploy/generate/generate.ts" };
/** The names that a command with many behind it takes. */
function choicesOf(script: string): readonly string[] {
  const text = textOf(Object.entries(choosers).find(([name]) => name === script)?.[1] ?? "");
  return [...text.matchAll(/^ +"?([a-z-]+)"?: \{/gm)].map(([, name = ""]) => name);
}

test("every command that is named is there", () => {
  const scripts: readonly string[] = Object.keys(JSON.parse(textOf("package.json")).scripts);
  // The past keeps its names.
  const isHistory = (path: string) => path.endsWith(".sql") || path === "CHANGELOG.md";
  const wrong = [...sources, ...pages]
    .filter((path) => !isHistory(path))
    .flatMap((path) => {
      const text = textOf(path);
      const unknown = [...text.matchAll(/\bnpm run (?:-s )?([a-z][a-z:-]*)/g)].filter(
        ([, name = ""]) => !scripts.includes(name),
      );
      const foreign = [
        ...text.matchAll(/(?:`|npx |npm run (?:-s )?)tollbooth (?:-- )?([a-z][a-z-]*)(?: ([a-z-]+))?/g),
      ].filter(([, noun = "", verb = ""]) => !isCommand(noun, verb));
      const chosen = [...text.matchAll(/\bnpm run (?:-s )?(prove|bench|generate) -- ([a-z][a-z-]*)/g)].filter(
        ([, script = "", name = ""]) => !choicesOf(script).includes(name),
      );
      return [...unknown, ...foreign, ...chosen].map(([named]) => `${path}: ${named}`);
    });
  assert.deepEqual(wrong, []);
  assert.ok(scripts.length <= 13, "few enough to know them all");
});

test("every test that a page names for a promise exists", () => {
  const proofs = ["docs/security.md", "docs/operate.md", "docs/proof.md"];
  const missing = proofs.flatMap((page) =>
    [...textOf(page).matchAll(/`((?:contract|flows|browser|connectors|services|gateway)\/[a-z0-9/-]+)`/g)]
      .filter(([, name = ""]) => ![`test/${name}`, name].some((path) => existsSync(join(root, `${path}.test.ts`))))
      .map(([, name]) => `${page}: ${name}`),
  );
  assert.deepEqual(missing, []);
});

test(`the README has at most ${readmeLinesMax} lines`, () => {
  assert.ok(textOf("README.md").trimEnd().split("\n").length <= readmeLinesMax);
});

/** Read by the runtime, by libraries or by commands, not through a process's settings. */
const readElsewhere = [
  "NAME_FILE", // a placeholder for all of them
  "NODE_ENV",
  "NODE_EXTRA_CA_CERTS",
  "NODE_OPTIONS",
  "NODE_TLS_REJECT_UNAUTHORIZED",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_RESOURCE_ATTRIBUTES",
  "TEST_BACKEND",
];

test("the page of settings has exactly the settings that processes read", () => {
  const all = [
    gatewaySettings,
    consoleSettings,
    checkoutSettings,
    paymentsSettings,
    merchantSettings,
    peopleSettings,
    webhookSettings,
    processSettings,
  ];
  const read = new Set(
    [...all, migrateSettings, stackSettings].flatMap(Object.keys).filter((name) => /^[A-Z]/.test(name)),
  );
  const page = textOf("docs/configuration.md");
  const named = new Set(
    [...page.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?:_…)?)[`=]/g)].map(([, name = ""]) => name),
  );
  const families = [...named].filter((name) => name.endsWith("…")).map((name) => name.slice(0, -1));
  const ofFamily = (name: string) => families.some((family) => name.startsWith(family));
  const lacking = [...read].filter((name) => name.includes("_") && !named.has(name) && !ofFamily(name));
  const invented = [...named].filter((name) => !name.endsWith("…") && !read.has(name) && !readElsewhere.includes(name));
  assert.deepEqual({ lacking, invented }, { lacking: [], invented: [] });
});

test.run();
