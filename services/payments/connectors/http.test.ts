// A call to a processor: what never left, what got no whole answer, and what was answered.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { suite } from "../../../test/harness/suite.ts";
import { ProcessorHttp } from "./http.ts";

const test = suite("calls to a processor");
const timeoutMs = 300;

/** The result of a call to a server that handles the connection so after a request. */
async function outcome(serve: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => serve(socket));
  });
  const http = new ProcessorHttp(await listening(server), timeoutMs);
  try {
    const answer = await http.call({ method: "POST", path: "/", headers: {}, json: {} });
    return answer.kind === "answered" ? String(answer.status) : answer.kind;
  } finally {
    await http.close();
    server.close();
  }
}

async function listening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert(address !== null && typeof address === "object");
  return `http://127.0.0.1:${address.port}`;
}

const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n";

test("a complete answer is answered, with any content", async () => {
  assert.equal(await outcome((socket) => socket.end(`${head}{}`)), "200");
  assert.equal(await outcome((socket) => socket.end(head.replace("200 OK", "502 Bad Gateway").concat("{}"))), "502");
});

test("a request without a complete answer is silent: closed, reset, truncated or timed out", async () => {
  assert.equal(await outcome((socket) => socket.end()), "silent");
  assert.equal(await outcome((socket) => socket.resetAndDestroy()), "silent");
  assert.equal(await outcome((socket) => socket.end(`${head}{`)), "silent");
  assert.equal(await outcome(() => {}), "silent");
  assert.equal(await outcome((socket) => socket.write(`${head}{`)), "silent", "a body that never ends");
});

test("a refused connection is unsent", async () => {
  const server = createServer();
  const origin = await listening(server);
  server.close();
  await once(server, "close");
  const http = new ProcessorHttp(origin, timeoutMs);
  assert.equal((await http.call({ method: "GET", path: "/", headers: {} })).kind, "unsent");
  await http.close();
});

test.run();
