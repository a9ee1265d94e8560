import { mkdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { suite } from "../../test/harness/suite.ts";
import { tempDir } from "../../test/harness/temp-dir.ts";

interface Progress {
  countInstalled(root: string, folders: readonly string[]): number;
  showProgress(options: {
    readonly out: { readonly isTTY: boolean; write(text: string): void };
    readonly total: number;
    readonly count: () => number;
    readonly clock: () => number;
    readonly every: (work: () => void, ms: number) => () => void;
  }): () => void;
}

const test = suite("progress of an installation");
const progress: Progress = createRequire(import.meta.url)("./install-progress.cjs");

/** What a stream is told while packages arrive, a tick at a time. */
function told(isTTY: boolean): { texts: string[]; everyMs: number } {
  const texts: string[] = [];
  const [counts, times] = [
    [0, 120, 354],
    [0, 0, 20_000, 41_000],
  ];
  let everyMs = 0;
  const stop = progress.showProgress({
    out: { isTTY, write: (text) => void texts.push(text) },
    total: 354,
    count: () => counts.shift() ?? 354,
    clock: () => times.shift() ?? 0,
    every(work, ms) {
      everyMs = ms;
      work();
      work();
      return () => {};
    },
  });
  stop();
  return { texts, everyMs };
}

test("elsewhere than on a terminal a line comes every few seconds, with count and time", () => {
  const { texts, everyMs } = told(false);
  assert.equal(texts, [
    "installing packages with npm ci: 0 of 354, 0 s\n",
    "installing packages with npm ci: 120 of 354, 20 s\n",
    "installing packages with npm ci: finishing, 41 s\n",
  ]);
  assert.ok(everyMs >= 2_000 && everyMs <= 10_000);
});

test("on a terminal one line changes several times a second, and is gone at the end", () => {
  const { texts, everyMs } = told(true);
  const clear = "\r\u001b[2K";
  assert.ok(texts.every((text) => text.startsWith(clear) && !text.includes("\n")));
  assert.match(texts[1] ?? "", "120 of 354, 20 s");
  assert.is(texts.at(-1), clear);
  assert.ok(everyMs <= 500);
});

test("a package counts when its own file is there, not when npm has made its folder", async () => {
  const root = await tempDir("modules");
  try {
    await mkdir(join(root, "node_modules/made"), { recursive: true });
    await mkdir(join(root, "node_modules/filled"));
    await writeFile(join(root, "node_modules/filled/package.json"), "{}");
    const folders = ["node_modules/made", "node_modules/filled", "node_modules/awaited"];
    assert.is(progress.countInstalled(root, folders), 1);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

test.run();
