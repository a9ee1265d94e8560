// The ingress of processors' webhooks: 200 when the event is durable, 400 for everything that is no event of an account
// of ours.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { defineRpc, serveRpc } from "#platform/rpc/server.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { type Answer, apiClient } from "../harness/api.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { trustingOnly } from "../harness/payments/money-services.ts";
import { contractSuite } from "./caller.ts";
import { ownGateway } from "./own-gateway.ts";

const { test, running } = contractSuite("processor ingress");
let account: string;
let webhookSecret: string;

test.before(async () => {
  const merchant = await freshMerchant(running);
  account = (await merchant.api.get("/v1/merchants/me/connectors")).text("data.0.external_account_id");
  const file = join(dirname(dirname(running.tls.ca)), "secrets.json");
  webhookSecret = String(membersOf(JSON.parse(await readFile(file, "utf8"))).simulatorWebhookSecret);
});

function deliver(body: string, options: { signedBody?: string; to?: string; header?: string } = {}): Promise<Answer> {
  const time = Math.floor(Date.now() / 1000);
  const signed = createHmac("sha256", webhookSecret)
    .update(`${time}.${options.signedBody ?? body}`)
    .digest("hex");
  const header = options.header ?? `t=${time},v1=${signed}`;
  return apiClient(running.gateway).post(`/processors/simulator/${options.to ?? account}`, body, {
    "content-type": "application/json",
    ...(header && { "processor-signature": header }),
  });
}

const event = (id: string) =>
  JSON.stringify({ id, type: "intent.unheard_of", account, created_at: new Date().toISOString(), data: {} });

function isRefused(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, String(answer));
  assert.equal(answer.text("error.code"), code);
}

test("a forged, missing or stale signature, and a changed body, are 400", async () => {
  const body = event("evt_forged");
  const time = Math.floor(Date.now() / 1000);
  isRefused(await deliver(body, { header: `t=${time},v1=${"0".repeat(64)}` }), 400, "invalid_body");
  isRefused(await deliver(body, { header: "" }), 400, "invalid_body");
  isRefused(await deliver(body, { header: "nonsense" }), 400, "invalid_body");
  isRefused(await deliver(`${body} `, { signedBody: body }), 400, "invalid_body");
  const old = time - 3_600;
  const signed = createHmac("sha256", webhookSecret).update(`${old}.${body}`).digest("hex");
  isRefused(await deliver(body, { header: `t=${old},v1=${signed}` }), 400, "invalid_body");
});

test("a signed body that is no event is 400", async () => {
  for (const body of ["", "{", "[]", '{"id":7}']) isRefused(await deliver(body), 400, "invalid_body");
});

test("an unknown account or connector is answered like a forged signature", async () => {
  const forged = { header: `t=1,v1=${"0".repeat(64)}` };
  const answers = [
    await deliver(event("evt_x"), forged),
    await deliver(event("evt_x"), { ...forged, to: "acct_unknown" }),
    await deliver(event("evt_x"), { ...forged, to: "%00" }),
    await apiClient(running.gateway).post(`/processors/unknown/${account}`, "{}"),
  ];
  const shown = answers.map(({ status, headers, raw }) => {
    const own = ["date", "request-id"];
    return { status, raw, headers: [...headers].filter(([name]) => !own.includes(name)) };
  });
  for (const each of shown) assert.deepEqual(each, shown[0]);
  isRefused(answers[1] ?? assert.fail(), 400, "invalid_body");
});

test("a body above 256 KiB is 413, of an unknown account too; one of 256 KiB is read", async () => {
  isRefused(await deliver("x".repeat(2 ** 18 + 1)), 413, "payload_too_large");
  isRefused(await deliver("x".repeat(2 ** 18 + 1), { to: "acct_unknown" }), 413, "payload_too_large");
  isRefused(await deliver("x".repeat(2 ** 18)), 400, "invalid_body");
});

test("while the payments service is of a release that does not know the question for the account, events reach it all the same", async () => {
  const token = (await readFile(running.rpc_files.tokens.gateway, "utf8")).trim();
  const earlier = await serveRpc({
    port: 0,
    host: "127.0.0.1",
    trusted: trustingOnly(token),
    log: createLog("test", "silent"),
    rpc: [
      defineRpc(PaymentsService, {
        receiveProcessorEvent: async ({ externalAccountId }) => {
          if (externalAccountId !== account) throw new Failure("NOT_FOUND");
          return { duplicate: false };
        },
      }),
    ],
  });
  const own = await ownGateway(running, { PAYMENTS_URL: `http://127.0.0.1:${earlier.port}` });
  (await apiClient(own.gateway).post(`/processors/simulator/${account}`, "{}")).expect(200);
  isRefused(await apiClient(own.gateway).post("/processors/simulator/acct_unknown", "{}"), 400, "invalid_body");
  await own.stop();
  await earlier.close();
});

test("the ingress is no part of the public document, takes no key and answers no other method", async () => {
  const document = await apiClient(running.gateway).get("/openapi.json");
  assert.ok(!document.raw.includes("/processors/"));
  isRefused(await apiClient(running.gateway).get(`/processors/simulator/${account}`), 404, "not_found");
});

test.run();
