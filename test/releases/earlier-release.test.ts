// Choice of the release to compare with, in test repositories, and the messages without one.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { findEarlier, NoEarlierRelease, UnknownReference } from "./earlier-release.ts";

const test = suite("earlier release");
let folder: string;
let root: string;

function git(...args: string[]): string {
  const who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
  return execFileSync("git", [...who, ...args], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

function commit(file: string): string {
  writeFileSync(join(root, file), file);
  git("add", ".");
  git("commit", "-q", "-m", file);
  return git("rev-parse", "HEAD");
}

const hasGit = spawnSync("git", ["--version"]).status === 0;
const proves = (name: string, body: () => Promise<void>) =>
  hasGit ? test(name, body) : test.skip(name, "there is no git on this machine");

test.before(async () => {
  if (!hasGit) return;
  folder = await tempDir("history");
  root = join(folder, "origin");
  mkdirSync(join(root, "services/payments/store/schema"), { recursive: true });
  git("init", "-q");
});
test.after(() => hasGit && rmSync(folder, { recursive: true, force: true }));

proves(
  "takes the named release, else the newest tag before this commit, else the commit before the newest migration",
  async () => {
    const migration = (n: number) => `services/payments/store/schema/000${n}-table.sql`;
    commit(migration(1));
    await assert.rejects(findEarlier(root), NoEarlierRelease, "the first migration of all has no state before it");
    const first = commit("code");
    commit(migration(2));
    commit("more code");
    assert.equal((await findEarlier(root)).commit, first);
    git("tag", "v1");
    const tagged = git("rev-parse", "HEAD");
    assert.equal((await findEarlier(root)).commit, first, "the release itself is not the one before it");
    commit("next");
    assert.deepEqual(await findEarlier(root), { name: "v1", commit: tagged });
    assert.deepEqual(await findEarlier(root, "HEAD~4"), { name: "HEAD~4", commit: git("rev-parse", "HEAD~4") });
    await assert.rejects(findEarlier(root, "v9"), UnknownReference);
    await assert.rejects(findEarlier(root, "--all"), UnknownReference, "a reference is never an option");
  },
);

proves("a shallow clone and a folder without history report that there is nothing to compare with", async () => {
  const shallow = join(folder, "shallow");
  git("clone", "-q", "--depth", "1", "--no-tags", `file://${root}`, shallow);
  await assert.rejects(findEarlier(shallow), /shallow: git fetch --unshallow --tags/);
  await assert.rejects(findEarlier(folder), /no git clone/);
});

test.run();
