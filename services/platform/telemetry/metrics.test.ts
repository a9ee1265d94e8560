// The admin port closes silent and slow connections within seconds.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { Registry } from "prom-client";
import { suite } from "../../../test/harness/suite.ts";
import { serveAdmin } from "./metrics.ts";

// Node's own limit is a minute and more.
const test = suite("the admin port", { timeoutMs: 30_000 });
let admin: { port: number; close(): void };

test.before(async () => {
  admin = await serveAdmin({
    registry: new Registry(),
    name: "test",
    port: 0,
    host: "127.0.0.1",
    ready: async () => true,
  });
});
test.after(() => admin?.close());

const head = "POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n";
const slow = [
  { what: "silence", begun: "" },
  { what: "half a head", begun: head },
  { what: "half a body", begun: `${head}\r\nx` },
  { what: "a head that drips", begun: `${head}X-A: `, drip: "x" },
  { what: "a body that drips", begun: `${head}\r\n`, drip: "x" },
];

/** Resolves when the port has closed the connection. */
async function closed({ what, begun, drip = "" }: (typeof slow)[number]): Promise<string> {
  const socket = connect(admin.port, "127.0.0.1").resume();
  socket.on("error", () => {});
  socket.write(begun);
  const dripping = setInterval(() => socket.writable && socket.write(drip), 500);
  await once(socket, "close");
  clearInterval(dripping);
  return what;
}

test("closes silent, partial and slow requests before Node would", async () => {
  const all = await Promise.all(slow.map(closed));
  assert.equal(all.length, slow.length);
});

test("answers a complete request", async () => {
  assert.equal((await fetch(`http://127.0.0.1:${admin.port}/livez`)).status, 200);
});

test.run();
