// When a job or a stream is worth a word to the person on call.
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

test("a job that goes on failing is late, and one whose run does not end hangs, long before the process ends itself", () => {
  assert.equal(describeJob(61, 0, 7), "relay-outbox is late by 61 s, and has failed 7 times since it worked");
  assert.match(describeJob(181, 181), /^relay-outbox hangs: its run has lasted 181 s, and at 300 s/);
});

test("pauses between tries, and runs that may rightly be long, are no problem", () => {
  assert.equal(describeJob(0, 0), "");
  assert.equal(describeJob(60, 0, 6), "");
  assert.equal(describeJob(180, 180), "");
});

test("a stream that fills is told of while it still takes events, one without a limit never", () => {
  const describeStream = (bytes: bigint, bytesMax: bigint) =>
    streamProblem(percentOf(create(StreamSchema, { bytes, bytesMax })));
  assert.match(describeStream(3_100n, 4_000n).join(), /^its stream holds 78 % of what it may/);
  assert.deepEqual([describeStream(2_800n, 4_000n), describeStream(4_000n, 0n)], [[], []]);
});

test.run();
