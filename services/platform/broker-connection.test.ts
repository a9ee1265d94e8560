import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { suite } from "../../test/harness/suite.ts";
import { connectBroker } from "./broker-connection.ts";

const test = suite("broker connection");
const greeting = 'INFO {"server_id":"late","version":"2.9.10","headers":true,"max_payload":1048576}\r\n';

for (const [how, greet] of [
  ["never greets", () => {}],
  ["greets when nobody waits any more", (socket: Socket) => void setTimeout(() => socket.write(greeting), 200)],
] as const) {
  test(`a broker that ${how} is left, and nothing stays open`, async () => {
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
    await assert.rejects(connectBroker({ servers: `nats://127.0.0.1:${port}`, timeout: 50 }), { code: "TIMEOUT" });
    await ended;
    server.close();
  });
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

test.run();
