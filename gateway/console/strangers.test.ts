// Limits for strangers at a console without its services: attempts per minute and network, memory for bodies, and time.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { eventually } from "../../test/harness/eventually.ts";
import { suite } from "../../test/harness/suite.ts";
import type { RunningServer } from "../http/server.ts";
import { startConsole } from "./server.ts";
import { readConsoleConfig } from "./settings.ts";

const test = suite("strangers at a console", { timeoutMs: 60_000 });
const folder = mkdtempSync(join(tmpdir(), "console-"));
let running: RunningServer;

test.before(async () => {
  const token = join(folder, "token");
  writeFileSync(token, "t".repeat(32));
  const away = "http://127.0.0.1:9";
  const services = { CHECKOUT_URL: away, PAYMENTS_URL: away, MERCHANT_URL: away, WEBHOOK_URL: away };
  const own = { PORT: "0", CONSOLE_ORIGIN: "http://localhost:8083", TRUST_PROXY: "1", LOG_LEVEL: "error" };
  const env = { ...services, ...own, NODE_ENV: "test", RPC_TOKEN_FILE: token };
  running = await startConsole("console", readConsoleConfig(env));
});
test.after(async () => {
  await running?.stop();
  rmSync(folder, { recursive: true });
});

let networks = 0;
/** A fresh address. */
const anAddress = () => `203.0.${++networks}.1`;

/** The start of a form. @param bytes announced length */
function form(path: string, address: string, body = "", bytes = body.length): string {
  const type = "Content-Type: application/x-www-form-urlencoded";
  const head = [`POST ${path} HTTP/1.1`, "Host: a", `X-Forwarded-For: ${address}`, "Sec-Fetch-Site: same-origin", type];
  return `${[...head, `Content-Length: ${bytes}`].join("\r\n")}\r\n\r\n${body}`;
}

function opened(bytes: string): Socket {
  const socket = connect({ port: running.port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  socket.write(bytes);
  return socket;
}

async function sent(path: string, address: string, body = ""): Promise<{ status: number; body: string }> {
  const socket = opened(form(path, address, body).replace("Host: a", "Host: a\r\nConnection: close"));
  const answer = await text(socket);
  socket.destroy();
  return { status: Number(answer.split(" ")[1]), body: answer };
}

async function statuses(tries: number, send: (i: number) => ReturnType<typeof sent>): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < tries; i++) all.push((await send(i)).status);
  return all;
}

test("offers the sign-in with the form's input without calling a service", async () => {
  const { status, body } = await sent("/account", anAddress(), "name=Ada+%3Cb%3E");
  assert.equal(status, 401);
  assert.match(body, /Ada &#60;b&#62;/);
  assert.match(body, /data-options="\/sign-in\/passkey\/options"/);
});

test("drops a form with too many fields or too much text", async () => {
  const many = await sent("/account", anAddress(), "a=&".repeat(21_000));
  assert.equal(many.status, 413);
  const long = await sent("/account", anAddress(), `text=${'"'.repeat(100_000)}`);
  assert.equal(long.status, 401);
  assert.ok(long.body.length < 20_000 && !long.body.includes("resume_fields"), `${long.body.length}`);
});

test("counts attempts by route, not by spelling of the address", async () => {
  const spellings = [
    "/sign-in/passkey/options",
    "/%73ign-in/passkey/options",
    "/sign%2Din/link",
    "http://console.example/sign-in/passkey/options",
    "/sign-in/passkey/options?a=b",
    "/account",
    "/mer_01jd3v9q6k8m2n4p6r8t0v2x4z/live/profile",
  ];
  const address = anAddress();
  const all = await statuses(27, (i) => sent(spellings[i % spellings.length] ?? "", address));
  assert.deepEqual(
    all.map((status) => status === 429),
    all.map((_, i) => i >= 20),
    all.join(" "),
  );
  assert.notEqual((await sent("/account", anAddress())).status, 429, "another client is not limited");
});

test("limits attempts per /64, and ten times as many per /48", async () => {
  const ofNetwork = await statuses(25, (i) => sent("/account", `2001:db8:1:1::${i}`));
  assert.equal(ofNetwork.filter((status) => status !== 429).length, 20);
  const ofSite = await statuses(220, (i) => sent("/account", `2001:db8:2:${i}::1`));
  assert.equal(ofSite.filter((status) => status !== 429).length, 200);
});

test("limits bodies in flight to 4 MiB per site and 32 MiB in total", async () => {
  const sockets: Socket[] = [];
  let refused = 0;
  const open = (address: string) => {
    const socket = opened(form("/sign-out", address, "a=b&", 131_000));
    socket.once("data", (answer) => {
      if (String(answer).startsWith("HTTP/1.1 429")) refused += 1;
    });
    sockets.push(socket);
  };
  // 20 attempts per /64, so 40 bodies need three networks of one site.
  for (let i = 0; i < 40; i++) open(`2001:db8:3:${i % 3}::1`);
  await eventually("bodies over the site's limit to be refused", () => refused === 40 - 32);
  refused = 0;
  for (let site = 4; site < 304; site++) open(`2001:db8:${site}::1`);
  await eventually("bodies over the total limit to be refused", () => refused === 300 - (256 - 32));
  for (const socket of sockets) socket.destroy();
  await eventually(
    "the memory to be free again",
    async () => (await sent("/account", anAddress(), "a=b")).status === 401,
  );
});

test("answers a form for an unknown path without reading its body", async () => {
  const sockets = Array.from({ length: 40 }, (_, i) => opened(form("/nope", `2001:db8:400:${i}::1`, "", 131_000)));
  for (const socket of sockets) assert.match(await text(socket), /^HTTP\/1.1 404/);
});

test("times out a slow form, also one that announces a file", async () => {
  const late = opened(form("/account", anAddress(), "name=", 100));
  const files = "/mer_01jd3v9q6k8m2n4p6r8t0v2x4z/live/disputes/dp_01jd3v9q6k8m2n4p6r8t0v2x4z/files";
  const upload = form(
    files,
    anAddress(),
    '--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n',
    1e6,
  );
  const lateFile = opened(upload.replace("application/x-www-form-urlencoded", "multipart/form-data; boundary=XX"));
  const began = performance.now();
  for (const socket of [late, lateFile]) {
    if (!socket.readableEnded) await once(socket.resume(), "end");
    socket.destroy();
  }
  // The server's own limit is one minute.
  assert.ok(performance.now() - began < 30_000);
});

test.run();
