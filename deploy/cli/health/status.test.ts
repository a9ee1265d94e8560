// Which jobs and streams count as problems.
import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { JobSchema, StreamSchema } from "#proto/status/v1/status_pb.ts";
import { suite } from "../../../test/harness/suite.ts";
import { jobProblem, percentOf, streamProblem } from "./status.ts";

const test = suite("tollbooth status");

function describeJob(lateSeconds: number, runningSeconds: number, failures = 0): string {
  const seconds = { lateSeconds: BigInt(lateSeconds), runningSeconds: BigInt(runningSeconds), limitSeconds: 300n };
  return jobProblem(create(JobSchema, { name: "relay-outbox", ...seconds, failures: BigInt(failures) })).join();
}

test("reports a repeatedly failing job as late, and an endless run as hanging before the process exits", () => {
  assert.equal(describeJob(61, 0, 7), "relay-outbox is late by 61 s after 7 failures");
  assert.match(describeJob(181, 181), /^relay-outbox hangs: it has run for 181 s, and the process exits at 300 s/);
});

test("accepts pauses between retries and long runs within their limit", () => {
  assert.equal(describeJob(0, 0), "");
  assert.equal(describeJob(60, 0, 6), "");
  assert.equal(describeJob(180, 180), "");
});

test("warns about a filling stream before it rejects events, and never about one without a limit", () => {
  const describeStream = (bytes: bigint, bytesMax: bigint) =>
    streamProblem(percentOf(create(StreamSchema, { bytes, bytesMax })));
  assert.match(describeStream(3_100n, 4_000n).join(), /^its stream is 78 % full and rejects/);
  assert.deepEqual([describeStream(2_800n, 4_000n), describeStream(4_000n, 0n)], [[], []]);
});

test.run();
