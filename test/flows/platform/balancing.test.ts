// Calls are spread over replicas that start and stop, and none fails: our own clients behind a ClusterIP, gRPC clients
// with a headless service.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Client as GrpcClient } from "@grpc/grpc-js";
import { connectPeer } from "#platform/rpc/client.ts";
import { defineRpc, type RpcServer, serveRpc } from "#platform/rpc/server.ts";
import { createLog } from "#platform/telemetry/log.ts";
import {
  CreateMerchantResponseSchema,
  GetMerchantRequestSchema,
  GetMerchantResponseSchema,
  MerchantService,
} from "#proto/merchant/v1/merchant_pb.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import { eventually } from "../../harness/eventually.ts";
import { trustingOnly } from "../../harness/payments/money-services.ts";
import { startBalancer } from "../../harness/servers/balancer.ts";
import { startHeadlessDns } from "../../harness/servers/headless-dns.ts";
import { suite } from "../../harness/suite.ts";

// Required for a DNS server named in a target; read when the library loads.
process.env.GRPC_NODE_USE_ALTERNATIVE_RESOLVER = "true";
const grpc = await import("@grpc/grpc-js");

const test = suite("balancing", { timeoutMs: 30_000 });
const token = "a-token-of-the-test";
// A minute in production.
const connectionMaxAgeMs = 300;
// Longer than a client of ours keeps an idle connection.
const drain = { lameDuckMs: 2_500, graceMs: 2_000 };
// As in docs/production.md. The library retries a call after a GOAWAY only once.
const serviceConfig = {
  loadBalancingConfig: [{ round_robin: {} }],
  methodConfig: [
    {
      name: [{ service: "merchant.v1.MerchantService", method: "GetMerchant" }],
      retryPolicy: {
        maxAttempts: 4,
        initialBackoff: "0.05s",
        maxBackoff: "1s",
        backoffMultiplier: 2,
        retryableStatusCodes: ["UNAVAILABLE"],
      },
    },
  ],
};
// A write is never retried, so that each lost call is seen.
const merchant = { name: "Shop", email: "shop@example.com", country: "DE", currency: "EUR" };

/** A replica that answers with its own name, after the time of a short transaction. */
function startReplica(name: string, address: { host: string; port: number }): Promise<RpcServer> {
  return serveRpc({
    ...address,
    trusted: trustingOnly(token),
    connectionMaxAgeMs,
    log: createLog("test", "fatal"),
    rpc: [
      defineRpc(MerchantService, {
        getMerchant: async () => create(GetMerchantResponseSchema, { merchant: { id: name } }),
        createMerchant: async () => {
          await pause(3);
          return create(CreateMerchantResponseSchema, { merchant: { id: name } });
        },
      }),
    ],
  });
}

/** Callers that call until stopped. `answers` counts by replica since it was last cleared. */
function callers(count: number, call: () => Promise<string>) {
  const answers = new Map<string, number>();
  const failures: unknown[] = [];
  let stopped = false;
  const loops = Array.from({ length: count }, async () => {
    while (!stopped) {
      try {
        const name = await call();
        answers.set(name, (answers.get(name) ?? 0) + 1);
      } catch (error) {
        failures.push(error);
        stopped = true;
      }
    }
  });
  return {
    answers,
    waitForAnswers: async (...names: string[]) => {
      answers.clear();
      await eventually(`answers of ${names}`, async () => names.every((name) => answers.has(name)));
    },
    stop: async () => {
      stopped = true;
      await Promise.all(loops);
      assert.deepEqual(failures, []);
    },
  };
}

test("callers behind a ClusterIP reach all replicas, also an added one, and lose no call when one stops", async () => {
  await Promise.all([1, 16].map(callBehindClusterIp));
});

async function callBehindClusterIp(concurrent: number): Promise<void> {
  const balancer = await startBalancer();
  const start = async (name: string) => {
    const replica = await startReplica(name, { host: "127.0.0.1", port: 0 });
    balancer.replicas.add(replica.port);
    return replica;
  };
  const [a, b, c] = [await start("a"), await start("b"), await start("c")];
  const peer = connectPeer({ url: balancer.url, token });
  const client = peer.client(MerchantService);
  const calling = callers(concurrent, async () => (await client.createMerchant(merchant)).merchant?.id ?? "");
  await calling.waitForAnswers("a", "b", "c");
  balancer.replicas.delete(a.port);
  await a.close(drain);
  const d = await start("d");
  await calling.waitForAnswers("b", "c", "d");
  assert.ok(!calling.answers.has("a"));
  await calling.stop();
  peer.close();
  await Promise.all([b, c, d].map((replica) => replica.close()));
  await balancer.stop();
}

test("a gRPC client with round_robin on a headless service reaches all replicas, also an added one, and loses no call", async () => {
  const port = await freePort();
  const dns = await startHeadlessDns();
  // Each replica has its own loopback address and the same port, like pods.
  const start = async (name: string, host: string) => {
    const replica = await startReplica(name, { host, port });
    dns.addresses.add(host);
    return replica;
  };
  const [a, b, c] = [await start("a", "127.0.0.1"), await start("b", "127.0.0.2"), await start("c", "127.0.0.3")];
  const client = new grpc.Client(
    `dns://127.0.0.1:${dns.port}/merchant-headless:${port}`,
    grpc.credentials.createInsecure(),
    {
      "grpc.service_config": JSON.stringify(serviceConfig),
      "grpc.dns_min_time_between_resolutions_ms": 100,
    },
  );
  const calling = callers(4, () => readOverGrpc(client));
  await calling.waitForAnswers("a", "b", "c");
  dns.addresses.delete("127.0.0.1");
  await a.close(drain);
  const d = await start("d", "127.0.0.4");
  await calling.waitForAnswers("b", "c", "d");
  assert.ok(!calling.answers.has("a"));
  await calling.stop();
  client.close();
  await Promise.all([b, c, d].map((replica) => replica.close()));
  await dns.stop();
});

function readOverGrpc(client: GrpcClient): Promise<string> {
  const metadata = new grpc.Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  const request = { merchantId: "mer_1" };
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      "/merchant.v1.MerchantService/GetMerchant",
      () => Buffer.from(toBinary(GetMerchantRequestSchema, create(GetMerchantRequestSchema, request))),
      (bytes) => fromBinary(GetMerchantResponseSchema, bytes).merchant?.id ?? "",
      request,
      metadata,
      (error, name) => (error || !name ? reject(error ?? new Error("no name")) : resolve(name)),
    );
  });
}

test.run();
