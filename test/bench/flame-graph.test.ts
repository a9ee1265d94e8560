// A profile as a flame graph: shares of the busy time, callers above what they call.
import assert from "node:assert/strict";
import { suite } from "../harness/suite.ts";
import { flameGraph, framesOf, type Profile } from "./flame-graph.ts";

const test = suite("flame graph");

const frame = (functionName: string, url = "") => ({ functionName, url, lineNumber: 0, columnNumber: 0 });

const profile: Profile = {
  nodes: [
    { id: 1, callFrame: frame("(root)"), children: [2, 3] },
    { id: 2, callFrame: frame("(idle)") },
    { id: 3, callFrame: frame("handle", "file:///app/services/a.ts"), children: [4, 5] },
    { id: 4, callFrame: frame("write<T>", "file:///app/node_modules/pg/b.js") },
    { id: 5, callFrame: frame("write<T>", "file:///app/node_modules/pg/b.js") },
  ],
  samples: [2, 3, 4, 5, 4],
  timeDeltas: [600, 100, 100, 100, 100],
};
const fileOf = (url: string) => url.replace("file:///app/", "");

test("idle time is none of it, and like frames of one caller are one", () => {
  const root = framesOf(profile, fileOf);
  assert.equal(root.total, 400);
  const [handle] = root.below.values();
  assert.deepEqual([handle?.name, handle?.total], ["handle", 400]);
  assert.deepEqual(
    [...(handle?.below.values() ?? [])].map(({ name, total }) => [name, total]),
    [["write<T>", 300]],
  );
});

test("the picture names each frame with its share and file, and what it names cannot be markup", () => {
  const svg = flameGraph("gateway, create", framesOf(profile, fileOf));
  assert.match(svg, /<title>write&lt;T&gt; node_modules\/pg\/b\.js 75\.0 %<\/title>/);
  assert.doesNotMatch(svg, /<T>/);
});

test("a process that was never busy has an empty picture", () => {
  assert.match(flameGraph("idle", framesOf({ ...profile, samples: [2], timeDeltas: [10] }, fileOf)), /<svg/);
});

test.run();
