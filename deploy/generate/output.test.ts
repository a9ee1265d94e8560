// What is built and not in git is built after a change only; the key of sources has its test in deploy/bundle.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { suite } from "../../test/harness/suite.ts";
import { ensureBuilt, isCurrent, outputs, removeStale } from "./output.ts";

const test = suite("built outputs", { timeoutMs: 60_000 });
const page = join(import.meta.dirname, "../..", outputs.web.folders[0], "page");

test("an output that is current is neither built again nor removed", async () => {
  await ensureBuilt("web");
  assert.ok(isCurrent("web"));
  const { ino } = statSync(page);
  await removeStale("web");
  await ensureBuilt("web");
  assert.equal(statSync(page).ino, ino);
});

test.run();
