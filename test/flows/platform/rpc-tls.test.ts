// TLS on the RPC port by files: protocols, a stream, foreign authorities, and new files while calls run.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { connectPeer } from "#platform/rpc/client.ts";
import { defineRpc, type RpcServer, serveRpc } from "#platform/rpc/server.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "#proto/grpc/health/v1/health_pb.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { type Certificate, makeAuthority, makeServerCertificate } from "../../../deploy/local/state/certificate.ts";
import { eventually } from "../../harness/eventually.ts";
import { trustingOnly } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const test = suite("rpc over TLS");
const token = "a-token-of-the-test";
const headers = { authorization: `Bearer ${token}` };
const hosts = ["localhost", "127.0.0.1"];
let server: RpcServer;
let authority: Certificate;
let dir: string;
let base: string;
let caFile: string;
let calls = 0;

const writePair = async ({ cert, key }: Certificate) => {
  await writeFile(join(dir, "tls.crt"), cert);
  await writeFile(join(dir, "tls.key"), key);
};

test.before(async () => {
  dir = await tempDir("rpc-tls");
  authority = await makeAuthority("ours", 1);
  caFile = join(dir, "ca.crt");
  await writeFile(caFile, authority.cert);
  await writePair(await makeServerCertificate(authority, hosts, 1));
  const getMerchant = async ({ merchantId }: { merchantId: string }) => {
    calls += 1;
    return { merchant: { id: merchantId } };
  };
  server = await serveRpc({
    ...{ port: 0, host: "127.0.0.1", trusted: trustingOnly(token), log: createLog("test", "silent") },
    tls: { cert: join(dir, "tls.crt"), key: join(dir, "tls.key") },
    rpc: [defineRpc(MerchantService, { getMerchant })],
  });
  base = `https://localhost:${server.port}`;
});
test.after(() => server?.close({ lameDuckMs: 0, graceMs: 500 }));

/** The serial number in the certificate of a new connection. */
async function serialNumber(): Promise<string> {
  const socket = connect({ port: server.port, host: "127.0.0.1", ca: authority.cert });
  await once(socket, "secureConnect");
  const { serialNumber: found } = socket.getPeerCertificate();
  socket.destroy();
  return found;
}

test("our client over HTTP/1.1, Connect and gRPC over HTTP/2 get the same answer, and a stream its messages", async () => {
  const peer = connectPeer({ url: base, token, caFile });
  assert.equal((await peer.client(MerchantService).getMerchant({ merchantId: "mer_1" })).merchant?.id, "mer_1");
  peer.close();
  const nodeOptions = { ca: authority.cert };
  const transports = [
    createConnectTransport({ baseUrl: base, httpVersion: "1.1", nodeOptions }),
    createConnectTransport({ baseUrl: base, httpVersion: "2", nodeOptions }),
    createGrpcTransport({ baseUrl: base, nodeOptions }),
  ];
  for (const transport of transports) {
    const client = createClient(MerchantService, transport);
    assert.equal((await client.getMerchant({ merchantId: "mer_1" }, { headers })).merchant?.id, "mer_1");
    for await (const { status } of createClient(Health, transport).watch({ service: "" })) {
      assert.equal(status, Status.SERVING);
      break;
    }
  }
});

test("a server of another authority, or of another name, gets no call, and the error names the address and the cause", async () => {
  const foreign = join(dir, "foreign.crt");
  await writeFile(foreign, (await makeAuthority("theirs", 1)).cert);
  const before = calls;
  for (const [url, trusted, cause] of [
    [base, foreign, /^https:\/\/localhost:\d+ .* is not signed by a trusted CA; trusted CA: .*foreign\.crt/],
    [base, undefined, /^https:\/\/localhost:\d+ .* is not signed by a trusted CA; trusted CA: Node's own list/],
    [`https://127.0.0.2:${server.port}`, caFile, /ECONNREFUSED/],
  ] as const) {
    const peer = connectPeer({ url, token, caFile: trusted });
    const error = await peer
      .client(MerchantService)
      .getMerchant({ merchantId: "mer_1" })
      .catch((each) => each);
    peer.close();
    assert.ok(error instanceof Failure);
    assert.equal(error.reason, "SERVICE_UNAVAILABLE");
    assert.ok(!error.begun, "nothing was sent");
    const chain = [error.cause, error.cause instanceof Error ? error.cause.cause : undefined];
    assert.ok(
      chain.some((each) => each instanceof Error && cause.test(each.message)),
      String(chain),
    );
  }
  assert.equal(calls, before);
});

test("a caller without TLS is refused, and the port goes on", async () => {
  await assert.rejects(fetch(base.replace("https", "http")));
  assert.ok(await serialNumber());
});

test("new files count for new connections without a restart and without a lost call; half of a change does not", async () => {
  const peer = connectPeer({ url: base, token, caFile });
  const merchants = peer.client(MerchantService);
  let isChanging = true;
  let answered = 0;
  const calling = (async () => {
    for (; isChanging; answered += 1) await merchants.getMerchant({ merchantId: "mer_1" });
  })();
  const old = await serialNumber();
  const next = await makeServerCertificate(authority, hosts, 1);
  await writeFile(join(dir, "tls.crt"), next.cert);
  const reads = answered;
  await eventually("calls with half of the change", () => answered > reads + 100);
  assert.equal(await serialNumber(), old);
  await writeFile(join(dir, "tls.key"), next.key);
  await eventually("the new certificate", async () => (await serialNumber()) !== old);
  isChanging = false;
  await calling;
  peer.close();
});

test.run();
