// Kubernetes service accounts as teams over the real services. A server in this process is the cluster's key endpoint;
// valid and forged tokens are made here.
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { readConfig } from "#platform/process/config.ts";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { fixedToken } from "#platform/secrets/callers.ts";
import { Failure } from "#platform/values/failure.ts";
import { Right } from "#proto/access/v1/access_pb.ts";
import { TeamService } from "#proto/access/v1/teams_pb.ts";
import { EventService } from "#proto/events/v1/event_service_pb.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { peopleSettings } from "../../../services/merchant/settings.ts";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";
import { serviceConfig } from "../service-config.ts";
import { startWebhookTest, type WebhookTest } from "../webhook/service.ts";

const test = suite("workloads as teams", { timeoutMs: 120_000 });
const issuer = "https://kubernetes.default.svc.cluster.local";
const [own, next, foreign] = [await newKey("RS256"), await newKey("ES256"), await newKey("RS256")];
let published: readonly object[] = [];
let isAway = false;
let keyServer: Server;
let config: Parameters<typeof startMerchant>[0] & { readonly RPC_TOKEN: string };
let merchant: Awaited<ReturnType<typeof startMerchant>>;
let webhook: WebhookTest;
let operator: Peer;
let merchantUrl: string;

async function newKey(alg: "RS256" | "ES256") {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const kid = crypto.randomUUID();
  return { alg, kid, publicKey, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

test.before(async () => {
  published = [own.jwk];
  keyServer = createServer((_request, response) => {
    response.writeHead(isAway ? 503 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ keys: published }));
  });
  await new Promise<void>((resolve) => keyServer.listen(0, "127.0.0.1", resolve));
  const { port } = keyServer.address() as AddressInfo;
  config = {
    ...(await serviceConfig("merchant")),
    ...{ SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_wh_test" },
    ...settingsOf("billing=books/billing,billing=books/billing-batch,nothing=books/nothing", port),
  };
  merchant = await startMerchant(config);
  merchantUrl = `http://127.0.0.1:${merchant.port}`;
  operator = connectPeer({ url: merchantUrl, token: config.RPC_TOKEN });
  await newTeam();
  webhook = await startWebhookTest({ MERCHANT_URL: merchantUrl, RPC_TOKEN_FILE: fixedToken(config.RPC_TOKEN) });
});
test.after(async () => {
  operator?.close();
  await webhook?.stop();
  await merchant?.stop();
  keyServer?.closeAllConnections();
  keyServer?.close();
});

function settingsOf(KUBERNETES_TEAMS: string, port = 1) {
  const KUBERNETES_JWKS_URL = `http://127.0.0.1:${port}/openid/v1/jwks`;
  return readConfig(peopleSettings, { KUBERNETES_ISSUER: issuer, KUBERNETES_JWKS_URL, KUBERNETES_TEAMS });
}

async function newTeam() {
  const rights = [Right.MERCHANTS_READ, Right.EVENTS_READ];
  await operator.client(TeamService).createTeam({ team: { name: "billing", rights, rate: 10_000 } });
}

interface TokenOptions extends JWTPayload {
  readonly key?: typeof own;
  readonly account?: string;
  readonly seconds?: number;
}

/** A token as a cluster projects it. */
async function tokenOf({ key = own, account = "books:billing", seconds = 600, ...claims }: TokenOptions = {}) {
  const now = Math.floor(Date.now() / 1_000);
  const whole = { iss: issuer, aud: ["tollbooth"], sub: `system:serviceaccount:${account}`, iat: now, nbf: now };
  return await new SignJWT({ ...whole, exp: now + seconds, jti: crypto.randomUUID(), ...claims })
    .setProtectedHeader({ alg: key.alg, kid: key.kid })
    .sign(key.privateKey);
}

/** "done", or the message of the refusal, of the merchant and of the webhook service. */
async function answersTo(token: string): Promise<string[]> {
  const calls = [
    [merchantUrl, "merchant.v1.MerchantService/ListMerchants"],
    [webhook.url, "events.v1.EventService/List"],
  ];
  return await Promise.all(
    calls.map(async ([url, path]) => {
      const response = await fetch(`${url}/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: "{}",
      });
      const answer: { message?: string } = JSON.parse(await response.text());
      return response.ok ? "done" : (answer.message ?? "");
    }),
  );
}

const everywhere = (answer: string) => [answer, answer];
const isEverywhere = async (token: string, answer: string) => (await answersTo(token)).every((each) => each === answer);

function watchWith(token: string) {
  const client = createClient(EventService, createGrpcTransport({ baseUrl: webhook.url }));
  return client.watch({}, { headers: { authorization: `Bearer ${token}` } })[Symbol.asyncIterator]();
}

test("a service account's token calls with its team's rights, in every protocol, and no other method", async () => {
  const token = await tokenOf();
  await eventually("the services to know the team", () => isEverywhere(token, "done"));
  assert.deepEqual(await answersTo(await tokenOf({ account: "books:billing-batch" })), everywhere("done"));
  const headers = { authorization: `Bearer ${await tokenOf()}` };
  const overGrpc = createClient(EventService, createGrpcTransport({ baseUrl: webhook.url }));
  assert.deepEqual((await overGrpc.list({}, { headers })).events, []);
  const peer = connectPeer({ url: merchantUrl, token: await tokenOf() });
  await peer.client(MerchantService).listMerchants({ pageSize: 1 });
  const refused = peer.client(TeamService).listTeams({});
  await assert.rejects(
    refused,
    (error: Error) => error.cause instanceof Failure && error.cause.reason === "CALLER_REFUSED",
  );
  peer.close();
  const { teams } = await operator.client(TeamService).listTeams({});
  assert.deepEqual(teams[0]?.workloads, ["books/billing", "books/billing-batch"]);
});

test("a token that is forged, for others, ended, early, or of no team is CALLER_UNKNOWN, and no service fails", async () => {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { iss: issuer, aud: "tollbooth", sub: "system:serviceaccount:books:billing", exp: now + 600 };
  const publicText = new TextEncoder().encode(await exportSPKI(own.publicKey));
  const token = await tokenOf();
  const forged: Record<string, string> = {
    "another audience": await tokenOf({ aud: "https://kubernetes.default.svc" }),
    "another issuer": await tokenOf({ iss: "https://other.example" }),
    "no end": await new SignJWT({ ...claims, exp: undefined as never })
      .setProtectedHeader({ alg: "RS256", kid: own.kid })
      .sign(own.privateKey),
    ended: await tokenOf({ seconds: -60 }),
    early: await tokenOf({ nbf: now + 300 }),
    "another key": await tokenOf({ key: { ...foreign, kid: own.kid } }),
    "an unknown key": await tokenOf({ key: foreign }),
    "no signature": new UnsecuredJWT(claims).encode(),
    "the public key as a secret": await new SignJWT(claims)
      .setProtectedHeader({ alg: "HS256", kid: own.kid })
      .sign(publicText),
    "changed claims": token.replace(/\.[^.]+\./, `.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`),
    "another account": await tokenOf({ account: "books:shop" }),
    "another namespace": await tokenOf({ account: "toys:billing" }),
    "a person": await tokenOf({ sub: "books/billing" }),
    "a team that does not exist": await tokenOf({ account: "books:nothing" }),
  };
  for (const [what, each] of Object.entries(forged)) {
    assert.deepEqual(await answersTo(each), everywhere("CALLER_UNKNOWN"), what);
  }
});

test("a new key counts once it is published; while the keys cannot be read, known ones count and others are SERVICE_UNAVAILABLE", async () => {
  const token = await tokenOf({ key: next });
  isAway = true;
  await eventually("a request for the keys", () => isEverywhere(token, "SERVICE_UNAVAILABLE"));
  assert.deepEqual(await answersTo(await tokenOf()), everywhere("done"));
  isAway = false;
  published = [own.jwk, next.jwk];
  await eventually("the new key", () => isEverywhere(token, "done"));
});

test("a stream ends within two seconds of its token's end, and of its team's removal", async () => {
  const seconds = 4;
  const ending = watchWith(await tokenOf({ seconds }));
  const began = performance.now();
  await assert.rejects(ending.next(), /CALLER_UNKNOWN/);
  const tookMs = performance.now() - began;
  assert.ok(tookMs > (seconds - 2) * 1_000 && tookMs < (seconds + 2) * 1_000, `${tookMs} ms`);
  const token = await tokenOf();
  const cut = watchWith(token).next();
  assert.deepEqual(await answersTo(token), everywhere("done"));
  await operator.client(TeamService).removeTeam({ name: "billing" });
  const from = performance.now();
  await assert.rejects(cut, /CALLER_UNKNOWN/);
  assert.ok(performance.now() - from < 2_000);
  await eventually("the refusal", () => isEverywhere(token, "CALLER_UNKNOWN"));
  await newTeam();
  await eventually("the team again", () => isEverywhere(token, "done"));
});

test("a removed mapping cuts its workload in services that had verified the token", async () => {
  const token = await tokenOf();
  assert.deepEqual(await answersTo(token), everywhere("done"));
  const { port } = merchant;
  await merchant.stop();
  const { port: keysPort } = keyServer.address() as AddressInfo;
  config = { ...config, ...settingsOf("billing=books/billing-batch", keysPort), PORT: port as 0 };
  merchant = await startMerchant(config);
  await eventually("the cut", () => isEverywhere(token, "CALLER_UNKNOWN"));
  assert.deepEqual(await answersTo(await tokenOf({ account: "books:billing-batch" })), everywhere("done"));
});

test("half of the settings, a mapping that cannot be read and keys over plain HTTP are refused", async () => {
  await assert.rejects(startMerchant({ ...config, PORT: 0, KUBERNETES_TEAMS: undefined }), /belong together/);
  for (const text of ["billing", "billing=books", "billing=books/a,other=books/a", "Billing=books/a"])
    assert.throws(() => settingsOf(text), /KUBERNETES_TEAMS must/, text);
  const { KUBERNETES_JWKS_URL } = peopleSettings;
  assert.throws(
    () => readConfig({ KUBERNETES_JWKS_URL }, { KUBERNETES_JWKS_URL: "http://api.example/openid/v1/jwks" }),
    /KUBERNETES_JWKS_URL must be an https address/,
  );
});

test.run();
