// Secrets in compose.yaml and compose-small.yaml: each container mounts exactly the files that its settings name.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("compose", { timeoutMs: 60_000 });

interface Container {
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly volumes?: readonly (string | Mount)[];
  readonly profiles?: readonly string[];
}

interface Mount {
  readonly source: string;
  readonly target: string;
  readonly read_only?: boolean;
  readonly volume?: { readonly subpath?: string };
}

const textOf = (file: string) => readFileSync(join(root, "deploy", file), "utf8");
const servicesOf = (file: string): Readonly<Record<string, Container>> =>
  parse(textOf(`image/${file}`), { merge: true }).services;
const containers: Readonly<Record<string, Container>> = {
  ...servicesOf("compose.yaml"),
  one: servicesOf("compose-small.yaml").one ?? {},
};
let made = "";

test.before(async () => {
  made = await tempDir("secrets");
  makeSecrets();
});
test.after(() => rmSync(made, { recursive: true }));

for (const name of Object.keys(containers).filter((each) => each !== "secrets")) {
  test(`${name} has exactly the secrets that it reads`, () => {
    const container = containers[name] ?? {};
    const mounted = secretMounts(container);
    assert.ok(mounted.length > 0);
    for (const { target, read_only } of mounted) assert.equal(read_only, true, target);
    const found = mounted.flatMap(filesOf);
    const read = filesRead(name, container, found);
    assert.ok(read.length > 0);
    const has = (path: string) => found.some(({ inside }) => inside === path);
    assert.deepEqual(
      read.filter((path) => !has(path)),
      [],
      "it would not find",
    );
    // An authority's certificate is not secret.
    const others = found.filter(({ inside }) => !read.includes(inside) && !inside.endsWith("/ca.crt"));
    assert.deepEqual(
      others.map(({ inside }) => inside),
      [],
      "it has no use for",
    );
  });
}

test("existing secrets stay, and missing ones of an earlier release are reported", () => {
  const before = readFileSync(join(made, "postgres/password"), "utf8");
  assert.match(makeSecrets(), /exist/);
  assert.equal(readFileSync(join(made, "postgres/password"), "utf8"), before);
  renameSync(join(made, "postgres-tls"), join(made, "postgres-tls.away"));
  try {
    assert.throws(makeSecrets, /without postgres-tls: remove/);
  } finally {
    renameSync(join(made, "postgres-tls.away"), join(made, "postgres-tls"));
  }
});

test("the one process replaces every process of ours", () => {
  const small = servicesOf("compose-small.yaml");
  const parts = String(small.one?.environment?.PARTS).split(", ");
  const off = Object.keys(small).filter((name) => small[name]?.profiles?.includes("separate"));
  assert.deepEqual(off.sort(), parts.sort());
  const own = ["secrets", "migrate", "operator", "simulator", "postgres", "nats", "one"];
  assert.deepEqual(
    Object.keys(containers)
      .filter((name) => !own.includes(name))
      .sort(),
    parts,
  );
});

test("only the writing container mounts the whole volume", () => {
  const whole = Object.entries(containers).filter(([, { volumes = [] }]) =>
    volumes.some((each) => (typeof each === "string" ? each.startsWith("secrets:") : isWhole(each))),
  );
  assert.deepEqual(
    whole.map(([name]) => name),
    ["secrets"],
  );
});

/** Runs the container `secrets` in a folder of the test. */
function makeSecrets(): string {
  const [, form = "", , ...urls] = containers.secrets?.command ?? [];
  const args = ["deploy/cli/main.ts", "secrets", form, made, ...urls];
  return execFileSync(process.execPath, args, { cwd: root, encoding: "utf8", stdio: "pipe" });
}

const isWhole = ({ source, volume }: Mount) => source === "secrets" && !volume?.subpath;

function secretMounts({ volumes = [] }: Container): Mount[] {
  return volumes.filter((each) => typeof each !== "string").filter(({ source }) => source === "secrets");
}

/** A mounted file or the files of a mounted folder, by their paths in the container and in the test. */
function filesOf({ target, volume }: Mount): { inside: string; made: string }[] {
  const path = join(made, volume?.subpath ?? "");
  if (!existsSync(path)) assert.fail(`the secrets command makes no ${volume?.subpath}`);
  if (statSync(path).isFile()) return [{ inside: target, made: path }];
  return globSync("**", { cwd: path, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ inside: join(target, entry.name), made: join(entry.parentPath, entry.name) }));
}

/** Paths in the container's settings, command line and configuration, and in the URLs that these files contain. */
function filesRead(name: string, container: Container, found: readonly { inside: string; made: string }[]): string[] {
  const { environment = {}, command = [], entrypoint = [] } = container;
  const inputs = [...Object.values(environment).map(String), ...command, ...entrypoint];
  const configurations: Readonly<Record<string, string>> = {
    nats: textOf("image/compose-nats.conf"),
    postgres: textOf("kubernetes/components/postgres/databases.sql").replaceAll(
      "$ROLES_FOLDER",
      String(environment.ROLES_FOLDER),
    ),
  };
  const urls = found
    .filter(({ inside }) => inside.endsWith("DATABASE_URL"))
    .map((file) => readFileSync(file.made, "utf8"));
  const text = [...inputs, configurations[name] ?? "", ...urls].join("\n");
  const paths = [...text.matchAll(/\/run\/secrets\/[\w./*-]*[\w*]/g)].map(([path]) => path);
  const files = paths.flatMap((path) => {
    if (!path.endsWith("/*")) return [path];
    return found.map(({ inside }) => inside).filter((inside) => inside.startsWith(path.slice(0, -1)));
  });
  return [...new Set(files)].filter((path) => path !== environment.ROLES_FOLDER);
}

test.run();
