// The npm package as a merchant's project has it: its types hold, and importing it does nothing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { membersOf } from "#platform/values/members.ts";
import { suite } from "../../test/harness/suite.ts";
import { tempDir } from "../../test/harness/temp-dir.ts";
import { packSdk } from "./pack.ts";

const test = suite("npm package", { timeoutMs: 60_000 });

// Compiles only while the results are told apart by `type`.
const project = `
import { type CheckoutJs, loadCheckout } from "@tollbooth/checkout-js";
const checkout: CheckoutJs | null = await loadCheckout({ src: "https://pay.example/js/v1/checkout.js" });
if (checkout !== null) throw new Error("there is no DOM here");
export async function pay(loaded: CheckoutJs): Promise<string> {
  const result = await loaded.create({ sessionSecret: "cs_secret_" }).confirm();
  // @ts-expect-error a result has an error only where its type says so
  result.error;
  switch (result.type) {
    case "succeeded": return result.paymentId;
    case "declined": case "error": return result.error.message;
    case "redirecting": return result.url;
    case "processing": return result.session.amount.formatted;
    case "canceled": return "";
  }
}
`;

test("a project compiles against its types and runs without a DOM", async () => {
  const folder = await tempDir("sdk");
  try {
    const tarball = await packSdk(folder);
    const scope = join(folder, "node_modules/@tollbooth");
    await mkdir(scope, { recursive: true });
    execFileSync("tar", ["-xzf", tarball, "-C", scope]);
    await rename(join(scope, "package"), join(scope, "checkout-js"));
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    await writeFile(join(folder, "shop.ts"), project);
    const tsc = join(import.meta.dirname, "../../node_modules/.bin/tsc");
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom"];
    execFileSync(tsc, [...options, "--ignoreConfig", "shop.ts"], { cwd: folder });
    execFileSync(process.execPath, ["shop.ts"], { cwd: folder });
  } catch (error) {
    assert.fail(`${membersOf(error).stdout ?? ""}${error}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test.run();
