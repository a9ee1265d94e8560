// Signs of life during a call: a connection that vanished is given up for want of them, and nothing else is.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { create, toBinary } from "@bufbuild/protobuf";
import { connectPeer } from "#platform/rpc/client.ts";
import { type RpcServer, serveRpc } from "#platform/rpc/server.ts";
import { trustingOnly } from "#platform/secrets/callers.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { GetMerchantResponseSchema, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { openLink } from "../../chaos/link.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("signs of life");
const token = "a-token-of-the-test";

/** Longer than a peer may be silent that is expected to give signs of life (rpc/signs.ts). */
const longCallMs = 6_000;
const longPause = () => new Promise((resolve) => setTimeout(resolve, longCallMs).unref());

/** A merchant service with this answer. */
function openMerchantDoor(answer: (merchantId: string) => Promise<void> | void): Promise<RpcServer> {
  return serveRpc({
    port: 0,
    host: "127.0.0.1",
    trusted: trustingOnly(token),
    log: createLog("test", "silent"),
    services: [MerchantService],
    routes: (router) =>
      router.service(MerchantService, {
        getMerchant: async ({ merchantId }) => {
          await answer(merchantId);
          return create(GetMerchantResponseSchema, { merchant: { id: merchantId } });
        },
      }),
  });
}

test("a call whose connection vanishes without a word is made again on another one, before its deadline", async () => {
  let [begin, release] = [() => {}, () => {}];
  const isBegun = new Promise<void>((resolve) => (begin = resolve));
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  let tries = 0;
  const door = await openMerchantDoor(async (merchantId) => {
    if (merchantId !== "mer_held" || ++tries > 1) return;
    begin();
    await isReleased;
  });
  const link = await openLink(door.port);
  const peer = connectPeer({ url: `http://127.0.0.1:${link.port}`, token });
  const merchant = peer.client(MerchantService);
  await merchant.getMerchant({ merchantId: "mer_1" });
  const held = merchant.getMerchant({ merchantId: "mer_held" });
  await isBegun;
  assert.ok(link.vanish() > 0);
  assert.equal((await held).merchant?.id, "mer_held");
  assert.equal(tries, 2);
  release();
  peer.close();
  await link.close();
  await door.close({ lameDuckMs: 0, graceMs: 500 });
});

test("a call that takes long is waited for, since its peer says that it works on it", async () => {
  let calls = 0;
  const door = await openMerchantDoor(async (merchantId) => {
    calls += 1;
    if (merchantId === "mer_slow") await longPause();
  });
  const peer = connectPeer({ url: `http://127.0.0.1:${door.port}`, token });
  const merchant = peer.client(MerchantService);
  await merchant.getMerchant({ merchantId: "mer_1" });
  assert.equal((await merchant.getMerchant({ merchantId: "mer_slow" })).merchant?.id, "mer_slow");
  assert.equal(calls, 2);
  peer.close();
  await door.close({ lameDuckMs: 0, graceMs: 500 });
});

test("a peer that gives no signs, as one of the release before, is waited for until the deadline", async () => {
  let calls = 0;
  const old = http.createServer(async (_request, response) => {
    calls += 1;
    if (calls > 1) await longPause();
    response.writeHead(200, { "content-type": "application/proto" });
    response.end(toBinary(GetMerchantResponseSchema, create(GetMerchantResponseSchema, { merchant: { id: "mer_1" } })));
  });
  old.listen(0, "127.0.0.1");
  await once(old, "listening");
  const address = old.address();
  assert.ok(typeof address === "object" && address);
  const peer = connectPeer({ url: `http://127.0.0.1:${address.port}`, token });
  const merchant = peer.client(MerchantService);
  for (let i = 0; i < 2; i++) await merchant.getMerchant({ merchantId: "mer_1" });
  assert.equal(calls, 2);
  peer.close();
  old.closeAllConnections();
  await new Promise((resolve) => old.close(resolve));
});

test.run();
