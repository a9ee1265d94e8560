// The npm package as a merchant's project uses it: its types compile, importing it has no effect, and its README is
// complete.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { membersOf } from "#platform/values/unchecked.ts";
import { suite } from "../../test/harness/suite.ts";
import { tempDir } from "../../test/harness/temp-dir.ts";
import { packSdk } from "./browser-sdk.ts";
import { repositoryUrl } from "./repository.ts";

const test = suite("npm package", { timeoutMs: 60_000, hookTimeoutMs: 60_000 });
let folder: string;
let installed: string;

// Compiles only if `type` discriminates the results and every public type has a name.
const project = `
import type { Appearance, BrandingView, CheckoutError, CheckoutHandle, ConfirmResult, CreateOptions, ErrorCode, Events,
  HandleState, LegalView, LineItem, LoadOptions, LoadResult, Money, ReturnResult, RunningSession, SessionView, TestCard,
} from "@tollbooth/checkout-js";
import { type CheckoutJs, loadCheckout } from "@tollbooth/checkout-js";
import { TollboothCheckout } from "@tollbooth/checkout-js/element";
export type All = [Appearance, BrandingView, CheckoutHandle, CreateOptions, Events, HandleState, LegalView, LineItem,
  LoadOptions, LoadResult, Money, ReturnResult, RunningSession, SessionView, TestCard];
const checkout: CheckoutJs | null = await loadCheckout({ src: "https://pay.example/js/v1/checkout.js" });
if (checkout !== null) throw new Error("there is no DOM here");
export async function pay(loaded: CheckoutJs): Promise<string> {
  const result: ConfirmResult = await loaded.create({ sessionSecret: "cs_secret_" }).confirm();
  // @ts-expect-error only some types of results have an error
  result.error;
  switch (result.type) {
    case "succeeded": return result.paymentId;
    case "declined": case "error": return describeError(result.error);
    case "redirecting": return result.url;
    case "processing": return result.session.amount.formatted;
    case "canceled": return "";
  }
}
function describeError({ code, cause, directive, host, message }: CheckoutError): string {
  const blocked: ErrorCode = "csp_blocked";
  if (code === blocked) return [directive, host].join(" ");
  return cause instanceof Error ? cause.message : message;
}
export function listen(loaded: CheckoutJs): void {
  const handle = loaded.create({ sessionSecret: async () => "cs_secret_" });
  handle.on("succeeded", ({ paymentId }) => paymentId.length);
  // @ts-expect-error there is no such event
  handle.on("paid", () => {});
}
export function element(): Promise<ConfirmResult> {
  const made: TollboothCheckout = document.createElement("tollbooth-checkout");
  made.sessionSecret = async () => "cs_secret_";
  made.options = { locale: "de", appearance: { theme: "dark" } };
  return made.confirm();
}
`;

test.before(async () => {
  folder = await tempDir("sdk");
  const tarball = await packSdk(folder);
  const scope = join(folder, "node_modules/@tollbooth");
  await mkdir(scope, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", scope]);
  installed = join(scope, "checkout-js");
  await rename(join(scope, "package"), installed);
});

test("compiles in a strict project and loads without a DOM", async () => {
  try {
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    await writeFile(join(folder, "shop.ts"), project);
    const tsc = join(import.meta.dirname, "../../node_modules/.bin/tsc");
    const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"];
    for (const kind of ["nodenext", "esnext"]) {
      const resolution = kind === "esnext" ? ["--moduleResolution", "bundler"] : [];
      const words = [...options, "--module", kind, ...resolution, "--ignoreConfig", "shop.ts"];
      execFileSync(tsc, words, { cwd: folder });
    }
    execFileSync(process.execPath, ["shop.ts"], { cwd: folder });
  } catch (error) {
    assert.fail(`${membersOf(error).stdout ?? ""}${error}`);
  }
});

test("the manifest names existing files and the licence, and the package has no internal files", () => {
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  assert.equal(manifest.license, "Apache-2.0");
  for (const { types, default: code } of Object.values<Record<string, string>>(manifest.exports)) {
    for (const path of [types, code]) assert.ok(existsSync(join(installed, path ?? "")), path);
  }
  assert.ok(existsSync(join(installed, "LICENSE")));
  assert.equal(existsSync(join(installed, "types/page")), false);
});

test("the repository is its public URL without credentials, and a local folder is omitted", () => {
  const url = "git+https://git.example/team/tollbooth.git";
  for (const remote of [
    "https://git.example/team/tollbooth.git",
    "https://user:secret@git.example/team/tollbooth",
    "ssh://git@git.example/team/tollbooth.git",
    "git@git.example:team/tollbooth.git",
  ]) {
    assert.equal(repositoryUrl(remote), url, remote);
  }
  for (const folder of ["/srv/tollbooth", "../tollbooth", "", "file:///srv/tollbooth"])
    assert.equal(repositoryUrl(folder), undefined, folder);
});

test("the README lists every option, event and error, and which calls can be retried", () => {
  const readme = readFileSync(join(installed, "README.md"), "utf8");
  const contract = readFileSync(join(installed, "types/contract.d.ts"), "utf8");
  const membersIn = (name: string) => {
    const [, body = ""] = new RegExp(`export interface ${name} \\{\\n([\\s\\S]*?)\\n\\}`).exec(contract) ?? [];
    return [...body.matchAll(/^ {4}(?:readonly )?(\w+)\??:/gm)].map(([, member = ""]) => member);
  };
  const rowsOf = (column: string) => {
    const [, table = ""] = new RegExp(`\\n\\| ${column} \\|.*\\n.*\\n((?:\\|.*\\n)+)`).exec(readme) ?? [];
    return [...table.matchAll(/^\| `(\w+)` \|(?: (yes|no) \|)?/gm)].map(([, name = "", again]) => ({ name, again }));
  };
  const names = (column: string) => rowsOf(column).map(({ name }) => name);
  assert.deepEqual(names("Option").sort(), membersIn("CreateOptions").sort());
  assert.deepEqual(names("Event").sort(), membersIn("Events").sort());
  const codes = readFileSync(join(installed, "types/error-code.d.ts"), "utf8").match(/"(\w+)"/g) ?? [];
  assert.deepEqual(names("`code`").sort(), codes.map((code) => code.slice(1, -1)).sort());
  const failures = readFileSync(join(import.meta.dirname, "../../gateway/web/sdk/failure.ts"), "utf8");
  for (const { name, again } of rowsOf("`code`")) {
    const [, isRetryable] = new RegExp(`^  ${name}: \\["\\w+", (true|false)`, "m").exec(failures) ?? [];
    assert.equal(again, isRetryable === "true" ? "yes" : "no", name);
  }
});

test.run();
