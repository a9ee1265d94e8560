// Each kind of link failure affects open connections as documented, and new ones not at all.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { eventually } from "../harness/eventually.ts";
import { suite } from "../harness/suite.ts";
import { type BadLink, openLink } from "./link.ts";

const test = suite("links that go bad");
const heldMs = 400;
let server: Server;
let link: BadLink;
/** The target's ends, and what it read from each. */
let accepted: { socket: Socket; read: string; isClosed: boolean }[];

test.before(async () => {
  server = createServer((socket) => {
    const end = { socket, read: "", isClosed: false };
    accepted.push(end);
    socket.on("data", (data) => {
      end.read += data;
      socket.write(`answer to ${data}`);
    });
    socket.on("error", () => {});
    socket.on("close", () => (end.isClosed = true));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  link = await openLink(address.port);
});
test.beforeEach(() => {
  accepted = [];
});
test.after(async () => {
  await link.close();
  server.close();
  await once(server, "close");
});

interface Caller {
  readonly socket: Socket;
  received: string;
  failure: string;
}

/** A connection over the link that has had one answer. */
async function call(): Promise<Caller> {
  const caller: Caller = { socket: connect(link.port, "127.0.0.1"), received: "", failure: "" };
  caller.socket.on("data", (data) => (caller.received += data));
  caller.socket.on("error", (error) => (caller.failure = "code" in error ? String(error.code) : error.message));
  caller.socket.write("first");
  await eventually("the answer", () => caller.received === "answer to first");
  return caller;
}

test("a cut breaks what is open at once", async () => {
  const caller = await call();
  assert.equal(link.cut(), 1);
  await eventually("the reset", () => caller.failure === "ECONNRESET");
  (await call()).socket.destroy();
});

test("a black hole drops bytes silently, accepts new connections, and ends with a reset", async () => {
  const caller = await call();
  const over = link.blackHole(heldMs);
  caller.socket.write("second");
  const other = await call();
  other.socket.destroy();
  assert.deepEqual([caller.received, caller.failure, accepted[0]?.read], ["answer to first", "", "first"]);
  assert.equal(accepted[0]?.isClosed, false, "the target knows nothing either");
  assert.equal(await over, 1);
  await eventually("the reset", () => caller.failure === "ECONNRESET" && accepted[0]?.isClosed);
});

test("a half-open connection is closed at the far end only", async () => {
  const caller = await call();
  const over = link.halfOpen(heldMs);
  await eventually("the far end to be gone", () => accepted[0]?.isClosed);
  caller.socket.write("second");
  assert.deepEqual([caller.received, caller.failure], ["answer to first", ""]);
  assert.equal(await over, 1);
  await eventually("the reset", () => caller.failure === "ECONNRESET");
});

test("a broken answer ends after its first byte, though the request came through", async () => {
  const caller = await call();
  assert.equal(link.breakAnswers(), 1);
  caller.socket.write("second");
  await eventually("the reset", () => caller.failure === "ECONNRESET");
  assert.equal(caller.received, "answer to firsta");
  assert.equal(accepted[0]?.read, "firstsecond");
});

test.run();
