// Misbehaving webhook receivers on free ports of this machine.
import { readFileSync } from "node:fs";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { gzipSync } from "node:zlib";
import {
  makeAuthority,
  makeSelfSignedCertificate,
  makeServerCertificate,
} from "../../../deploy/local/state/certificate.ts";
import type { TlsFiles } from "../../../deploy/local/state/tls.ts";

/** Running servers. */
interface HostileServers {
  /** URL by name. */
  readonly urls: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

type Behaviour = (socket: Socket) => void;

const head = (status: string, ...headers: string[]) => `HTTP/1.1 ${[status, ...headers].join("\r\n")}\r\n\r\n`;
const chunk = Buffer.alloc(64 * 1_024, "x");
// Made once, since it blocks all servers for a quarter of a second.
let bomb: Buffer | undefined;

/** The response of each to the first bytes of a request. */
const behaviours: Readonly<Record<string, Behaviour>> = {
  silent: () => {},
  dripHeaders: (socket) => drip(socket, `${"HTTP/1.1 200 OK\r\nX-A: ".padEnd(4_000, "a")}`, 200),
  endlessContinue: (socket) => drip(socket, head("100 Continue").repeat(2_000), 10),
  endlessBody: (socket) => {
    socket.write(head("200 OK"));
    flood(socket);
  },
  endlessRefusal: (socket) => {
    socket.write(head("500 Oops"));
    flood(socket);
  },
  dripBody: (socket) => {
    socket.write(head("200 OK", "Content-Length: 100000"));
    drip(socket, "y".repeat(100_000), 100);
  },
  gzipBomb: (socket) => {
    bomb ??= gzipSync(Buffer.alloc(50 * 1_024 * 1_024));
    socket.end(
      Buffer.concat([Buffer.from(head("500 No", "Content-Encoding: gzip", `Content-Length: ${bomb.length}`)), bomb]),
    );
  },
  headerFlood: (socket) =>
    socket.write(`HTTP/1.1 200 OK\r\n${"X-Flood: aaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".repeat(5_000)}\r\n`),
  reset: (socket) => socket.destroy(),
  halfClosed: (socket) => socket.end(),
  closeDelimited: (socket) => socket.end(`${head("200 OK", "Connection: close")}fine`),
  shortBody: (socket) => socket.end(`${head("200 OK", "Content-Length: 1000")}short`),
  continued: (socket) =>
    socket.write(`${head("100 Continue")}${head("103 Early Hints", "Link: </x>")}${head("204 No Content")}`),
  upgrade: (socket) => socket.write(head("101 Switching Protocols", "Upgrade: x", "Connection: Upgrade")),
  garbage: (socket) => socket.end("\u0001\u0002 this is not HTTP\r\n\r\n"),
  twoLengths: (socket) => socket.end(`${head("200 OK", "Content-Length: 2", "Content-Length: 3")}ok`),
  gone: (socket) => socket.write(head("410 Gone", "Content-Length: 0")),
  moved: (socket) => socket.write(head("308 Permanent Redirect", "Location: https://127.0.0.1/", "Content-Length: 0")),
  controlText: (socket) => socket.write(`${head("400 Bad", "Content-Length: 9")}a\u0000b\u001b[31mc`),
  authenticate: (socket) => socket.write(head("401 Who", "WWW-Authenticate: Basic", "Content-Length: 0")),
};

/** Starts all servers. @param tls of an authority that the service trusts */
export async function startHostileServers(tls: TlsFiles): Promise<HostileServers> {
  const good = { cert: readFileSync(tls.cert), key: readFileSync(tls.key) };
  const authority = { cert: readFileSync(tls.ca, "utf8"), key: readFileSync(tls.ca.replace(/\.pem$/, ".key"), "utf8") };
  const dayFraction = 0.01;
  const certificates: Readonly<Record<string, TlsOptions>> = {
    tlsExpired: await makeServerCertificate(authority, ["localhost"], -dayFraction),
    tlsWrongName: await makeServerCertificate(authority, ["shop.example"], 1),
    tlsSelfSigned: await makeSelfSignedCertificate(["localhost"], 1),
    tlsUntrusted: await makeServerCertificate(await makeAuthority("Other", 1), ["localhost"], 1),
    tlsOld: { ...good, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" },
  };
  const servers: [string, Server][] = [
    ...Object.entries(behaviours).map(([name, act]): [string, Server] => [name, tlsServer(good, act)]),
    ...Object.entries(certificates).map(([name, options]): [string, Server] => [name, tlsServer(options, () => {})]),
    [
      "plainHttp",
      createTcpServer((socket) => socket.once("data", () => socket.end(head("200 OK"))).on("error", () => {})),
    ],
    ["noHandshake", createTcpServer((socket) => socket.resume().on("error", () => {}))],
  ];
  const sockets = new Set<Socket>();
  const urls: Record<string, string> = {};
  for (const [name, server] of servers) {
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    urls[name] = `https://localhost:${typeof address === "object" ? address?.port : 0}/${name}`;
  }
  return {
    urls,
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map(([, server]) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function tlsServer(options: TlsOptions, act: Behaviour): Server {
  const server = createTlsServer(options, (socket) => {
    socket.on("error", () => {});
    socket.once("data", () => act(socket));
  });
  return server.on("tlsClientError", () => {});
}

/** Writes one character at a time. */
function drip(socket: Socket, text: string, everyMs: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent >= text.length || socket.destroyed) clearInterval(timer);
    else socket.write(text[sent++] ?? "");
  }, everyMs);
  socket.once("close", () => clearInterval(timer));
}

/** Writes without end, as fast as the other side reads. */
function flood(socket: Socket): void {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk)) {}
  };
  socket.on("drain", more);
  more();
}
