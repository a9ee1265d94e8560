import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { inspectProcess } from "../process/process-table.ts";
import { openStateDir } from "./state-dir.ts";

const test = suite("state directory");
let home = "";

test.beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "tollbooth-state-"));
});
test.afterEach(() => rm(home, { recursive: true, force: true }));

async function refusal(path: string): Promise<string> {
  try {
    await openStateDir(path);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error(`${path} was opened`);
}

test("creates the folder with its parents, closed to others, and releases it", async () => {
  const path = join(home, "a", "b");
  const dir = await openStateDir(path);
  assert.is((await stat(path)).mode & 0o066, 0);
  await dir.release();
  await (await openStateDir(path)).release();
});

test("refuses while another process holds the folder, and names it", async () => {
  const dir = await openStateDir(home);
  assert.match(await refusal(home), `already running on ${home} (pid ${process.pid})`);
  await dir.release();
});

test("takes over a lock whose process is gone or whose pid was reused", async () => {
  const birth = inspectProcess(process.pid)?.birth;
  for (const stale of [
    { pid: 2 ** 22 + 1, birth },
    { pid: process.pid, birth: "of another process" },
  ]) {
    await writeFile(join(home, "lock"), JSON.stringify(stale));
    const dir = await openStateDir(home);
    assert.is(JSON.parse(await readFile(join(home, "lock"), "utf8")).pid, process.pid);
    await dir.release();
  }
});

test("exactly one of many parallel starts takes over a stale lock", async () => {
  await writeFile(join(home, "lock"), "{}");
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => openStateDir(home)));
  assert.is(results.filter((result) => result.status === "fulfilled").length, 1);
});

test("reports a path that is not writable in one line", async () => {
  await writeFile(join(home, "file"), "");
  for (const path of [join(home, "file"), join(home, "file", "below"), "/proc/tollbooth/state"]) {
    const message = await refusal(path);
    assert.match(message, "cannot write to the state directory");
    assert.not.match(message, "\n");
  }
});

test.run();
