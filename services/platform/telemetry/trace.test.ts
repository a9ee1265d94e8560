// This process alone decides whether an outside request is recorded. Spans go to an OTLP receiver over HTTP.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { suite } from "../../../test/harness/suite.ts";
import { createLog } from "./log.ts";
import { openSpan } from "./trace.ts";
import { exportSpans } from "./trace-export.ts";

const test = suite("traces");
let receiver: Server;
let received = "";

test.before(async () => {
  receiver = createServer(async (request, response) => {
    received += await text(request);
    response.setHeader("content-type", "application/json").end("{}");
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
});
test.after(() => void receiver?.close());

/** Number of recorded traces among requests with these traceparents. */
async function recorded(share: number, traceparents: readonly string[]): Promise<number> {
  received = "";
  const { port } = receiver.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const running = exportSpans("test", { endpoint, share }, createLog("test", "error"));
  const edge = { name: "GET /", kind: "SERVER", mayBegin: true, ...running.tracing } as const;
  for (const parent of traceparents) {
    const span = openSpan({ ...edge, parent });
    assert.equal(span?.traceparent.split("-")[1], parent.split("-")[1], "the trace goes on");
    span?.end();
  }
  await running.stop();
  return traceparents.filter((each) => received.includes(each.split("-")[1] ?? "")).length;
}

/** @param begins first part of the trace id, which an id-based sampler uses */
const strangers = (flags: string, begins: string) =>
  Array.from({ length: 400 }, () => `00-${begins}${randomBytes(12).toString("hex")}-00f067aa0ba902b7-${flags}`);

test("an outside caller's flags and trace ids do not decide whether a request is recorded", async () => {
  for (const flags of ["00", "01"]) {
    for (const begins of ["00000001", "ffffffff"]) {
      assert.equal(await recorded(0, strangers(flags, begins)), 0);
      assert.equal(await recorded(1, strangers(flags, begins)), 400);
      const half = await recorded(0.5, strangers(flags, begins));
      assert.ok(half > 100 && half < 300, `${half} of 400 with ${begins}…-${flags}`);
    }
  }
});

test.run();
