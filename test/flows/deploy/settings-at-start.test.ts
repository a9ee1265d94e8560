// Startup with unusable settings or certificates: each problem is reported once, in one line that names it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { Database } from "#platform/database/database.ts";
import { BrokerLink } from "#platform/events/connection.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { asFailure } from "#platform/values/failure.ts";
import { type Certificate, makeAuthority, makeServerCertificate } from "../../../deploy/local/state/certificate.ts";
import { freshDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const test = suite("settings at the start", { timeoutMs: 120_000 });
const root = join(import.meta.dirname, "../../..");
const processes = {
  gateway: "gateway/main.ts",
  checkout: "services/checkout/main.ts",
  payments: "services/payments/main.ts",
  merchant: "services/merchant/main.ts",
  webhook: "services/webhook/main.ts",
};

interface ProcessExit {
  readonly code: number;
  readonly lines: string[];
}

function run(program: string, env: Readonly<Record<string, string>>, ...words: string[]): Promise<ProcessExit> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: { PATH: process.env.PATH, ...env }, timeout: 60_000 };
    const child = execFile(process.execPath, [program, ...words], options, (_, out, errors) => {
      const lines = `${out}${errors}`.split("\n").filter((line) => line !== "");
      resolve({ code: child.exitCode ?? -1, lines });
    });
  });
}

const runMigrate = (env: Readonly<Record<string, string>>) => run("deploy/cli/main.ts", env, "migrate");

const authority = await makeAuthority("the test's", 1);
const current = await makeServerCertificate(authority, ["localhost"], 1);
const ended = await makeServerCertificate(authority, ["localhost"], -0.01);

async function authorityFile(certificate: Certificate): Promise<string> {
  const path = join(await tempDir("authority"), "ca.crt");
  await writeFile(path, certificate.cert);
  return path;
}

test("every process reports all invalid settings at once, a line each, with exit code 1", async () => {
  const NATS_CA_FILE = await authorityFile(await makeAuthority("ended", -0.01));
  const wrong = { LOG_LEVEL: "loud", ADMIN_PORT: "many", DRAIN_SECONDS: "0", PORT: "-1", NATS_CA_FILE };
  const missing = ["NATS_URL"];
  for (const [name, program] of Object.entries(processes)) {
    const { code, lines } = await run(program, wrong);
    assert.equal(code, 1, name);
    for (const line of lines)
      assert.match(line, new RegExp(`^${name}: [A-Z_]+ (is missing$|must |names )`), lines.join("\n"));
    const named = lines.map((line) => line.split(" ")[1] ?? "");
    for (const setting of [...Object.keys(wrong), ...missing])
      assert.ok(named.includes(setting), `${name}: ${setting}`);
    assert.equal(new Set(named).size, named.length, "each once");
  }
});

test("migrate and the simulator report all invalid settings too", async () => {
  const NATS_CA_FILE = await authorityFile(await makeAuthority("ended", -0.01));
  const migrate = await runMigrate({ NATS_CA_FILE, NATS_REPLICAS: "many" });
  assert.equal(migrate.code, 1);
  assert.equal(migrate.lines.length, 7, migrate.lines.join("\n"));
  for (const line of migrate.lines) assert.match(line, /^[A-Z_]+ (is missing$|must |names )/);
  const simulator = await run("services/simulator/main.ts", { PORT: "-1" });
  assert.equal(simulator.code, 1);
  assert.ok(simulator.lines.length > 1, simulator.lines.join("\n"));
  for (const line of simulator.lines) assert.match(line, /^simulator: [A-Z_]+ /);
});

test("an expired or untrusted server certificate ends the start with one line that names setting and file", async () => {
  const { url } = await freshDatabase();
  const front = await TlsFront.open(Number(new URL(url).port), ended);
  const wanted = async (file: string) => {
    const through = front.url(url, file);
    return await runMigrate({
      NATS_URL: "nats://127.0.0.1:9",
      CHECKOUT_DATABASE_URL: through,
      PAYMENTS_DATABASE_URL: through,
      MERCHANT_DATABASE_URL: through,
      WEBHOOK_DATABASE_URL: through,
    });
  };
  const own = await authorityFile(authority);
  const late = await wanted(own);
  const leads = "CHECKOUT_DATABASE_URL leads to a server whose certificate";
  assert.deepEqual(
    [late.code, late.lines],
    [1, [`${leads} has expired, or its CA's has; trusted CA: ${own} (CERT_HAS_EXPIRED)`]],
  );
  front.certificate = current;
  const other = await authorityFile(await makeAuthority("another", 1));
  const foreign = await wanted(other);
  assert.equal(foreign.code, 1);
  assert.equal(foreign.lines.length, 1, foreign.lines.join("\n"));
  assert.ok(
    foreign.lines[0]?.startsWith(`${leads} is not signed by a trusted CA; trusted CA: ${other} (`),
    foreign.lines[0],
  );
  await front.close();
});

test("a certificate that expires at run time is logged once, and calls are SERVICE_UNAVAILABLE until it is renewed", async () => {
  const { url } = await freshDatabase();
  const front = await TlsFront.open(Number(new URL(url).port), current);
  const logged: string[] = [];
  const log = Object.assign(createLog("test", "silent"), { error: (line: string) => logged.push(line) });
  const db = await Database.open({ url: front.url(url, await authorityFile(authority)), name: "test", log });
  const one = () => db.rows("select 1 as one");
  const isUnavailable = (error: unknown) => asFailure(error).reason === "SERVICE_UNAVAILABLE";
  assert.deepEqual(await one(), [{ one: 1 }]);
  for (const round of [1, 2]) {
    front.certificate = ended;
    await front.dropAll();
    for (let call = 0; call < 4; call++) await assert.rejects(one(), isUnavailable);
    assert.equal(logged.length, round);
    assert.match(logged.at(-1) ?? "", /^DATABASE_URL leads to a server whose certificate has expired/);
    front.certificate = current;
    assert.deepEqual(await one(), [{ one: 1 }]);
  }
  await db.close();
  await front.close();
});

test("a broker's expired certificate is logged once with setting and file, however often it is tried", async () => {
  const greeting = { server_id: "one", version: "2.10.0", tls_required: true, max_payload: 1024, proto: 1 };
  let greeted = 0;
  const server = createServer((socket) => {
    greeted += 1;
    socket.on("error", () => {});
    socket.write(`INFO ${JSON.stringify(greeting)}\r\n`);
    new TLSSocket(socket, { isServer: true, cert: ended.cert, key: ended.key }).on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const logged: string[] = [];
  const log = Object.assign(createLog("test", "silent"), { error: (line: string) => logged.push(line) });
  const caFile = await authorityFile(authority);
  const broker = { url: `tls://localhost:${port}`, caFile };
  const link = new BrokerLink({ broker, name: "test", log, onConnected: () => {} });
  await eventually("three tries", () => greeted > 2);
  await link.close();
  server.close();
  const what = "has expired, or its CA's has";
  assert.deepEqual(logged, [
    `NATS_URL leads to a server whose certificate ${what}; trusted CA: ${caFile} (CERT_HAS_EXPIRED)`,
  ]);
});

/** A TLS proxy with a replaceable certificate in front of a real PostgreSQL. */
class TlsFront {
  certificate: Certificate;
  readonly #port: number;
  readonly #server = createServer((socket) => void this.#pass(socket));
  readonly #sockets = new Set<Socket>();

  private constructor(port: number, certificate: Certificate) {
    this.#port = port;
    this.certificate = certificate;
  }

  static async open(port: number, certificate: Certificate): Promise<TlsFront> {
    const front = new TlsFront(port, certificate);
    front.#server.listen(0, "127.0.0.1");
    await once(front.#server, "listening");
    return front;
  }

  /** The database's URL through the proxy. */
  url(url: string, authorityPath: string): string {
    const { port } = this.#server.address() as AddressInfo;
    const through = Object.assign(new URL(url), { hostname: "localhost", port: String(port) });
    through.search = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(authorityPath)}`;
    return through.href;
  }

  /** Closes every connection. */
  async dropAll(): Promise<void> {
    const open = [...this.#sockets];
    await Promise.all(open.map((socket) => (socket.destroyed ? undefined : once(socket.destroy(), "close"))));
  }

  async close(): Promise<void> {
    await this.dropAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #pass(plain: Socket): Promise<void> {
    this.#sockets.add(plain);
    plain.on("error", () => {});
    // The server answers the SSLRequest with one letter.
    await once(plain, "data");
    plain.write("S");
    const { cert, key } = this.certificate;
    const secure = new TLSSocket(plain, { isServer: true, cert, key });
    const behind = connect(this.#port, "127.0.0.1");
    this.#sockets.add(behind);
    for (const [one, other] of [
      [secure, behind],
      [behind, secure],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
  }
}

test.run();
