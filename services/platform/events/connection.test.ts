import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { suite } from "../../../test/harness/suite.ts";
import { connectBroker } from "./connection.ts";

const test = suite("broker connection");
const greeting = 'INFO {"server_id":"late","version":"2.9.10","headers":true,"max_payload":1048576}\r\n';

for (const [how, greet] of [
  ["never greets", () => {}],
  ["greets too late", (socket: Socket) => void setTimeout(() => socket.write(greeting), 200)],
] as const) {
  test(`closes the socket of a broker that ${how}`, async () => {
    const server = createServer();
    const ended = new Promise((resolve) => {
      server.on("connection", (socket) => {
        socket
          .on("error", () => {})
          .on("close", resolve)
          .resume();
        greet(socket);
      });
    });
    const port = await listening(server);
    await assert.rejects(connectBroker({ url: `nats://127.0.0.1:${port}` }, { name: "test", timeout: 50 }), {
      code: "TIMEOUT",
    });
    await ended;
    server.close();
  });
}

test("sends nothing to a broker without TLS under tls://", async () => {
  const { port, received, close } = await plainBroker();
  const url = `tls://tollbooth:secret@127.0.0.1:${port}`;
  await assert.rejects(connectBroker({ url }, { name: "test", timeout: 2_000 }), { code: "SERVER_OPT_NA" });
  await close();
  assert.equal(received(), "");
});

for (const [login, expected] of [
  ["tollbooth:p%40ss", { user: "tollbooth", pass: "p@ss" }],
  ["a%2Ftoken", { auth_token: "a/token" }],
] as const) {
  test(`sends the URL's login (${Object.keys(expected).join(", ")}) to the broker`, async () => {
    const { port, received, close } = await plainBroker();
    const connection = await connectBroker(
      { url: `nats://${login}@127.0.0.1:${port}` },
      { name: "test", timeout: 2_000 },
    );
    await connection.close();
    await close();
    const [, words = "{}"] = /^CONNECT (.*)\r\n/m.exec(received()) ?? [];
    const { user, pass, auth_token } = JSON.parse(words);
    assert.deepEqual(JSON.parse(JSON.stringify({ user, pass, auth_token })), expected);
  });
}

/** A broker without TLS that greets and answers pings. */
async function plainBroker(): Promise<{ port: number; received(): string; close(): Promise<unknown> }> {
  let received = "";
  const server = createServer((socket) => {
    socket.on("error", () => {}).write(greeting);
    socket.on("data", (data) => {
      received += data;
      if (String(data).includes("PING")) socket.write("PONG\r\n");
    });
  });
  return {
    port: await listening(server),
    received: () => received,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

test.run();
