// Outputs outside git are rebuilt only after a change; the key of sources is tested in deploy/bundle.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { suite } from "../../test/harness/suite.ts";
import { ensureBuilt, isCurrent, outputs, removeStale } from "./output.ts";

const test = suite("built outputs", { timeoutMs: 60_000 });
const page = join(import.meta.dirname, "../..", outputs.web.folders[0], "page");

test("neither rebuilds nor removes a current output", async () => {
  await ensureBuilt("web");
  assert.ok(isCurrent("web"));
  const { ino } = statSync(page);
  await removeStale("web");
  await ensureBuilt("web");
  assert.equal(statSync(page).ino, ino);
});

test.run();
