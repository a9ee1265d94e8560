// Hostile bodies: too many, too slow, too long. A rejected body is not read, and other callers are not affected.
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { apiClient } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { contractSuite } from "./caller.ts";
import { ownGateway } from "./own-gateway.ts";

const { test, running, merchant } = contractSuite("bodies");
const kib = 1024;
let account: string;

test.before(async () => {
  account = (await merchant.api.get("/v1/merchants/me/connectors")).text("data.0.external_account_id");
});

/** One connection and what came back on it. The other side's end does not end ours. */
class Line {
  readonly socket: Socket;
  answer = "";
  isClosed = false;

  constructor(gateway: string, bytes: string) {
    const { hostname, port } = new URL(gateway);
    this.socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () => this.socket.write(bytes));
    this.socket.on("data", (chunk) => {
      this.answer += chunk;
    });
    this.socket.on("error", () => {});
    this.socket.once("close", () => {
      this.isClosed = true;
    });
  }

  /** Sends byte after byte until the other side has let go of the connection. */
  async untilClosed(): Promise<void> {
    const probe = () => {
      if (this.socket.writable) this.socket.write("x");
      return this.isClosed;
    };
    await eventually("the connection to be closed", probe, { everyMs: 100 });
  }
}

/** A request with the beginning of a body. */
function begun(path: string, length: number, body: string, headers: readonly string[] = [], method = "POST"): string {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: a", `Content-Length: ${length}`, ...headers];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

const secret = `cs_secret_01jd3v9q6k8m2n4p6r8t0v2x4z_${"a".repeat(43)}`;
const wrongSecret = `/v1/checkout/cs_01jd3v9q6k8m2n4p6r8t0v2x4z/confirm?secret=${secret}`;
const isJson = "Content-Type: application/json";

test("a refused request is answered at once, its body is not read on, and the connection ends though the caller keeps sending", async () => {
  const endless = 400 * kib * kib;
  const asMerchant = `Authorization: Bearer ${merchant.apiKey}`;
  const refused: [status: number, bytes: string][] = [
    [404, begun(wrongSecret, endless, "")],
    [404, begun("/nowhere", endless, "", [isJson])],
    [401, begun("/v1/checkout-sessions", endless, "", [isJson])],
    [405, begun("/v1/payments", endless, "", [isJson], "PUT")],
    [413, begun("/v1/checkout-sessions", endless, "", [isJson, asMerchant])],
    [415, begun("/v1/checkout-sessions", endless, "", [asMerchant])],
    [400, begun("/processors/simulator/acct_unknown", 9, "")],
    [413, begun(`/processors/simulator/${account}`, endless, "")],
    [401, begun("/v1/payments", endless, "", [], "GET")],
  ];
  const piece = Buffer.alloc(64 * kib, "x");
  for (const [status, bytes] of refused) {
    const line = new Line(running.gateway, bytes);
    const { socket } = line;
    const send = () => {
      while (!line.isClosed && socket.bytesWritten < endless && socket.write(piece));
    };
    socket.on("drain", send);
    await eventually(`${status} to ${bytes.slice(0, 40)}`, () => line.answer.includes("\r\n\r\n{"));
    assert.match(line.answer, new RegExp(`^HTTP/1.1 ${status} `));
    assert.match(line.answer, /\r\nconnection: close\r\n/i);
    send();
    await line.untilClosed();
    // The buffers of both kernels, and the little that the server still reads.
    assert.ok(socket.bytesWritten < 64 * kib * kib, `${socket.bytesWritten} bytes were taken`);
  }
});

test("a small body of a rejected request keeps the connection open", async () => {
  const line = new Line(running.gateway, begun(wrongSecret, 2, "{}"));
  await eventually("the refusal", () => line.answer.includes('"not_found"'));
  assert.doesNotMatch(line.answer, /connection: close/i);
  line.socket.write("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  await eventually("the next answer", () => line.answer.endsWith('{"status":"ok"}'));
  line.socket.destroy();
});

test("300 bodies one byte short, for a known account and with a key, use no more than one caller's share", async () => {
  const own = await ownGateway(running);
  const other = await freshMerchant(running);
  const event = 256 * kib;
  const order = 64 * kib;
  const asMerchant = [isJson, `Authorization: Bearer ${merchant.apiKey}`];
  const storm = async (bytes: string, held: number) => {
    const lines = Array.from({ length: 300 }, () => new Line(own.gateway, bytes));
    const refused = () => lines.filter(({ answer }) => answer.startsWith("HTTP/1.1 503 "));
    await eventually(`all but ${held} to be refused`, () => refused().length === 300 - held);
    for (const { answer } of refused()) assert.match(answer, /\r\nretry-after: 1\r\n.*"service_unavailable"/is);
    return lines;
  };
  const lines = [
    ...(await storm(begun(`/processors/simulator/${account}`, event, "x".repeat(event - 1)), 16)),
    ...(await storm(begun("/v1/checkout-sessions", order, "x".repeat(order - 1), asMerchant), 64)),
  ];
  const body = { amount: 100, currency: "EUR" };
  const asOther = { authorization: `Bearer ${other.apiKey}` };
  (await apiClient(own.gateway).post("/v1/checkout-sessions", body, asOther)).expect(201);
  for (const { socket } of lines) socket.destroy();
  await eventually("the room to be free again", async () => {
    const answer = await apiClient(own.gateway).post(`/processors/simulator/${account}`, "x".repeat(event), {});
    return answer.status === 400;
  });
  await own.stop();
});

test("what is too long is refused as often as one likes, and costs its sender no room", async () => {
  const own = await ownGateway(running);
  const as = { authorization: `Bearer ${merchant.apiKey}` };
  const long = begun("/v1/checkout-sessions", 70_000, "", [isJson, `Authorization: Bearer ${merchant.apiKey}`]);
  for (let round = 0; round < 70; round++) {
    const line = new Line(own.gateway, long);
    await eventually("the refusal", () => line.answer.includes("\r\n\r\n{"));
    assert.match(line.answer, /^HTTP\/1.1 413 /);
    line.socket.destroy();
  }
  (await apiClient(own.gateway).post("/v1/checkout-sessions", { amount: 100, currency: "EUR" }, as)).expect(201);
  await own.stop();
});

test("a chunked body takes the room of the longest that its route reads, and ends there", async () => {
  const own = await ownGateway(running);
  const chunked = (path: string, headers: readonly string[] = []) =>
    [`POST ${path} HTTP/1.1`, "Host: a", "Transfer-Encoding: chunked", ...headers, "", ""].join("\r\n");
  const held = Array.from({ length: 16 }, () => new Line(own.gateway, chunked(`/processors/simulator/${account}`)));
  await eventually("the share to be taken", async () => {
    return (await apiClient(own.gateway).post("/v1/onboarding/applications", {})).status === 503;
  });
  for (const { socket } of held) socket.destroy();
  const long = `${(65 * kib).toString(16)}\r\n${"x".repeat(65 * kib)}\r\n`;
  const line = new Line(own.gateway, chunked("/v1/onboarding/applications", [isJson]) + long);
  await eventually("the refusal", () => line.answer.startsWith("HTTP/1.1 413 "));
  await line.untilClosed();
  await own.stop();
});

test("headers and bodies that never end are ended, also byte by byte, and also when the caller keeps its side open", async () => {
  const slow = await ownGateway(running, { REQUEST_HEADERS_SECONDS: "1", REQUEST_SECONDS: "2" });
  const asMerchant = [isJson, `Authorization: Bearer ${merchant.apiKey}`];
  const lines = [
    new Line(slow.gateway, "POST /v1/payments HTTP/1.1\r\nHost: a\r\nX-Slow: "),
    new Line(slow.gateway, begun("/v1/checkout-sessions", 60 * kib, "{", asMerchant)),
    new Line(slow.gateway, begun(`/processors/simulator/${account}`, 60 * kib, "{")),
  ];
  const silent = new Line(slow.gateway, "");
  await eventually("a timeout for the silent one", () => silent.answer.startsWith("HTTP/1.1 408 "));
  await Promise.all([...lines, silent].map((line) => line.untilClosed()));
  for (const { answer } of lines) assert.match(answer, /^HTTP\/1\.1 408 .*"invalid_body"/s);
  await slow.stop();
});

test.run();
