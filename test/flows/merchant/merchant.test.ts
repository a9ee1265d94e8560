// The merchant service over RPC, on a fresh database and a NATS of its own streams.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import {
  ApiKeyService,
  ApplicationService,
  ConnectorService,
  Environment,
  MerchantService,
} from "#proto/merchant/v1/merchant_pb.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";
import { type AnnouncedEvents, listenTo, refused, serviceConfig } from "../service-config.ts";

const test = suite("merchant service");
const sandbox = Environment.SANDBOX;
const simulator = { SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_whsec_test" };
const profile = { name: "Acme", legalName: "Acme Ltd", email: "ops@acme.example", country: "DE", currency: "EUR" };

let service: { port: number; stop(): Promise<void> };
let peer: Peer;
let announced: AnnouncedEvents;
let merchants: Client<typeof MerchantService>;
let keys: Client<typeof ApiKeyService>;
let connectors: Client<typeof ConnectorService>;
let applications: Client<typeof ApplicationService>;

test.before(async () => {
  const config = await serviceConfig("merchant");
  service = await startMerchant({ ...config, ...simulator });
  peer = connectPeer({ url: `http://127.0.0.1:${service.port}`, token: config.RPC_TOKEN });
  announced = await listenTo(config, "merchant");
  merchants = peer.client(MerchantService);
  keys = peer.client(ApiKeyService);
  connectors = peer.client(ConnectorService);
  applications = peer.client(ApplicationService);
});
test.after(async () => {
  peer?.close();
  await announced?.stop();
  await service?.stop();
});

async function newMerchant(): Promise<string> {
  const { merchant } = await merchants.createMerchant(profile);
  assert(merchant);
  return merchant.id;
}

async function newKey(merchantId: string, expiresAt?: Date) {
  const scopes = ["payments:read", "merchant:read"];
  const issued = await keys.createApiKey({
    merchantId,
    environment: sandbox,
    name: "backend",
    scopes,
    ...(expiresAt ? { expiresAt: timestampFromDate(expiresAt) } : {}),
  });
  assert(issued.apiKey);
  return { secret: issued.secret, id: issued.apiKey.id };
}

test("a new merchant is active, branded by default, and can take sandbox payments at once", async () => {
  const id = await newMerchant();
  const { merchant } = await merchants.getMerchant({ merchantId: id });
  assert.equal(merchant?.status, "active");
  assert.equal(merchant?.refundsEnabled, true);
  const { branding, merchantName } = await merchants.getBranding({ merchantId: id });
  assert.deepEqual(
    [branding?.buttonStyle, branding?.backgroundStyle, branding?.theme, branding?.fontFamily, merchantName],
    ["rounded", "subtle", "light", "inter", "Acme"],
  );
  const { account } = await connectors.getActiveConnectorAccount({ merchantId: id, environment: sandbox });
  const connector = account?.connector;
  assert.equal(connector?.connector, "simulator");
  assert.equal(connector?.isDefault && connector.isActive && connector.canBePrimary, true);
  assert.equal(connector?.externalAccountId, `acct_${connector?.id.slice("mco_".length)}`);
  assert.equal(connector?.surface, "embedded");
  assert.deepEqual(account?.credentials, {
    account: connector?.externalAccountId,
    secret_key: "sim_sk_test",
    webhook_secret: "sim_whsec_test",
  });
  await announced.event("merchant.created", id);
});

test("an account is found by the processor's words and by our id", async () => {
  const merchantId = await newMerchant();
  const { account } = await connectors.getActiveConnectorAccount({ merchantId, environment: sandbox });
  assert(account?.connector);
  const { id: connectorId, externalAccountId } = account.connector;
  const byId = await connectors.getConnectorAccount({ by: { case: "connectorId", value: connectorId } });
  const external = { connector: "simulator", externalAccountId };
  const byWords = await connectors.getConnectorAccount({ by: { case: "external", value: external } });
  assert.deepEqual(byId, byWords);
  assert.equal(byId.account?.connector?.merchantId, merchantId);
  const unknown = { connector: "stripe", externalAccountId };
  await assert.rejects(
    connectors.getConnectorAccount({ by: { case: "external", value: unknown } }),
    refused("NOT_FOUND"),
  );
});

test("only an active merchant with an account in the environment gets one for new sessions", async () => {
  const merchantId = await newMerchant();
  const ask = (environment: Environment) => connectors.getActiveConnectorAccount({ merchantId, environment });
  await assert.rejects(ask(Environment.LIVE), refused("NO_CONNECTOR"));
  await merchants.updateMerchantState({ merchantId, status: "suspended" });
  await assert.rejects(ask(sandbox), refused("FORBIDDEN"));
  assert.equal((await announced.event("merchant.updated", merchantId)).status, "suspended");
  await merchants.updateMerchantState({ merchantId, status: "active" });
  assert.equal((await ask(sandbox)).account?.merchantStatus, "active");
  await assert.rejects(
    connectors.getActiveConnectorAccount({ merchantId: newId("merchant"), environment: sandbox }),
    refused("NOT_FOUND"),
  );
});

test("a merchant with an unknown country or currency is refused with both named", async () => {
  const created = merchants.createMerchant({ ...profile, country: "XX", currency: "QQQ" });
  await assert.rejects(
    created,
    (error) => refused("INVALID_BODY", "country")(error) && refused("INVALID_BODY", "currency")(error),
  );
});

test("a profile change keeps what is absent and clears what is empty", async () => {
  const merchantId = await newMerchant();
  await merchants.updateProfile({ merchantId, phone: "+4930123456", website: "https://acme.example" });
  const { merchant } = await merchants.updateProfile({ merchantId, name: "Acme 2", phone: "" });
  assert.deepEqual(
    [merchant?.name, merchant?.legalName, merchant?.phone, merchant?.website],
    ["Acme 2", "Acme Ltd", "", "https://acme.example"],
  );
  const { merchant: stored } = await merchants.getMerchant({ merchantId });
  assert.deepEqual(stored, merchant);
  await assert.rejects(merchants.updateProfile({ merchantId, name: "   " }), refused("INVALID_BODY", "name"));
  await assert.rejects(
    merchants.updateProfile({ merchantId, website: "https://" }),
    refused("INVALID_BODY", "website"),
  );
  await assert.rejects(merchants.updateProfile({ merchantId: newId("merchant") }), refused("NOT_FOUND"));
});

test("a branding change keeps what is absent and is refused as a whole when one field is wrong", async () => {
  const merchantId = await newMerchant();
  await merchants.updateBranding({ merchantId, displayName: "Acme Shop", accentColor: "#00ff00" });
  const { branding } = await merchants.updateBranding({ merchantId, theme: "dark" });
  assert.deepEqual(
    [branding?.displayName, branding?.accentColor, branding?.theme, branding?.fontFamily],
    ["Acme Shop", "#00ff00", "dark", "inter"],
  );
  const wrong = merchants.updateBranding({ merchantId, tagline: "new", supportEmail: "nobody" });
  await assert.rejects(wrong, refused("INVALID_BODY", "support_email"));
  const { branding: stored } = await merchants.getBranding({ merchantId });
  assert.deepEqual(stored, branding);
  await announced.event("branding.updated", merchantId);
});

test("a key stands for its merchant until it is revoked, and gateways hear of it", async () => {
  const merchantId = await newMerchant();
  const key = await newKey(merchantId);
  const { apiKey, merchantId: owner, merchantStatus } = await keys.authenticateKey({ apiKey: key.secret });
  assert.deepEqual([owner, merchantStatus, apiKey?.id, apiKey?.status], [merchantId, "active", key.id, "active"]);
  assert.deepEqual(apiKey?.scopes, ["payments:read", "merchant:read"]);
  assert.equal(apiKey?.suffix, key.secret.slice(-4));
  await announced.event("api_key.created", key.id);
  const named = { merchantId, environment: sandbox, apiKeyId: key.id };
  await keys.revokeApiKey(named);
  await keys.revokeApiKey(named);
  await assert.rejects(keys.authenticateKey({ apiKey: key.secret }), refused("UNAUTHORIZED"));
  await announced.event("api_key.revoked", key.id);
  assert.equal(announced.count("api_key.revoked", key.id), 1);
});

test("keys that are unknown, mistyped or expired are refused alike", async () => {
  const merchantId = await newMerchant();
  const { secret } = await newKey(merchantId);
  const mistyped = secret.slice(0, -1) + (secret.endsWith("0") ? "1" : "0");
  for (const apiKey of ["x", mistyped, secret.replace("sk_test_", "sk_live_")]) {
    await assert.rejects(keys.authenticateKey({ apiKey }), refused("UNAUTHORIZED"));
  }
  const brief = await newKey(merchantId, new Date(Date.now() + 300));
  await eventually("the key to expire", () =>
    keys.authenticateKey({ apiKey: brief.secret }).then(
      () => false,
      (error) => refused("UNAUTHORIZED")(error),
    ),
  );
  const { apiKeys } = await keys.listApiKeys({ merchantId, environment: sandbox });
  assert.deepEqual(
    apiKeys.map((key) => key.status),
    ["active", "expired"],
  );
  await assert.rejects(newKey(merchantId, new Date(Date.now() - 1)), refused("INVALID_BODY", "expires_at"));
});

test("a rolled key and its successor both work during the overlap, and only an active key can be rolled", async () => {
  const merchantId = await newMerchant();
  const old = await newKey(merchantId);
  const named = { merchantId, environment: sandbox, apiKeyId: old.id };
  const successor = await keys.rollApiKey({ ...named, overlapSeconds: 3_600 });
  const { apiKey } = await keys.authenticateKey({ apiKey: old.secret });
  assert(apiKey?.expiresAt);
  assert.equal((await keys.authenticateKey({ apiKey: successor.secret })).apiKey?.name, "backend");
  assert.equal((await announced.event("api_key.rolled", old.id)).attributes.successor_id, successor.apiKey?.id);
  await keys.rollApiKey({ ...named, overlapSeconds: 0 });
  await assert.rejects(keys.authenticateKey({ apiKey: old.secret }), refused("UNAUTHORIZED"));
  await assert.rejects(keys.rollApiKey({ ...named, overlapSeconds: 0 }), refused("NOT_FOUND"));
});

test("another merchant's or the other environment's key cannot be touched", async () => {
  const merchantId = await newMerchant();
  const { id: apiKeyId, secret } = await newKey(merchantId);
  const stranger = { merchantId: await newMerchant(), environment: sandbox, apiKeyId };
  await assert.rejects(keys.revokeApiKey(stranger), refused("NOT_FOUND"));
  await assert.rejects(
    keys.revokeApiKey({ merchantId, environment: Environment.LIVE, apiKeyId }),
    refused("NOT_FOUND"),
  );
  await keys.authenticateKey({ apiKey: secret });
  assert.equal((await keys.listApiKeys({ merchantId, environment: Environment.LIVE })).apiKeys.length, 0);
});

test("the last use of a key only moves forward, within a batch and between batches", async () => {
  const merchantId = await newMerchant();
  const { id: apiKeyId } = await newKey(merchantId);
  const past = (ms: number) => ({ apiKeyId, usedAt: timestampFromDate(new Date(Date.now() - ms)) });
  const known = async () => (await keys.listApiKeys({ merchantId, environment: sandbox })).apiKeys[0]?.lastUsedAt;
  assert.equal(await known(), undefined);
  const latest = past(1_000);
  await keys.recordKeyUse({ uses: [past(60_000), latest, past(30_000)] });
  assert.deepEqual(await known(), latest.usedAt);
  await keys.recordKeyUse({ uses: [past(5_000), { apiKeyId: newId("apiKey"), usedAt: latest.usedAt }] });
  assert.deepEqual(await known(), latest.usedAt);
  await keys.recordKeyUse({ uses: [past(-3_600_000)] });
  assert(((await known())?.seconds ?? 0n) <= BigInt(Math.ceil(Date.now() / 1_000)));
});

test("a connector's surface can be chosen among the allowed ones", async () => {
  const merchantId = await newMerchant();
  const [connector] = (await connectors.listConnectors({ merchantId, environment: sandbox })).connectors;
  assert(connector);
  const named = { merchantId, environment: sandbox, connectorId: connector.id };
  const changed = await connectors.updateConnector({ ...named, selectedSurface: "hosted" });
  assert.deepEqual([changed.connector?.selectedSurface, changed.connector?.surface], ["hosted", "hosted"]);
  const primary = await connectors.updateConnector({ ...named, makeDefault: true });
  assert.deepEqual([primary.connector?.isDefault, primary.connector?.surface], [true, "hosted"]);
  await announced.event("connector.updated", connector.id);
  await assert.rejects(connectors.updateConnector(named), refused("INVALID_BODY"));
  const stranger = { ...named, merchantId: await newMerchant(), makeDefault: true };
  await assert.rejects(connectors.updateConnector(stranger), refused("NOT_FOUND"));
});

test("an application is submitted only when it is whole, and its approval makes exactly one merchant", async () => {
  const { application: draft } = await applications.createApplication({ legalName: "Acme Ltd" });
  assert.equal(draft?.status, "draft");
  await assert.rejects(
    applications.submitApplication({ applicationId: draft?.id ?? "" }),
    (error) => error instanceof Failure && error.reason === "INVALID_BODY" && error.violations.length === 4,
  );
  const { application } = await applications.createApplication({
    applicantEmail: "ceo@acme.example",
    legalName: "Acme Ltd",
    tradingName: "Acme",
    countryCode: "DE",
    currencyCode: "EUR",
  });
  assert(application);
  const named = { applicationId: application.id };
  await assert.rejects(applications.approveApplication(named), refused("INVALID_BODY", "status"));
  assert.equal((await applications.submitApplication(named)).application?.status, "submitted");
  assert.equal((await applications.submitApplication(named)).application?.status, "submitted");
  const approvals = await Promise.all([1, 2, 3].map(() => applications.approveApplication(named)));
  const made = new Set(approvals.map((answer) => answer.application?.merchantId));
  assert.equal(made.size, 1);
  const [merchantId = ""] = made;
  await connectors.getActiveConnectorAccount({ merchantId, environment: sandbox });
  await assert.rejects(applications.rejectApplication(named), refused("INVALID_BODY", "status"));
});

test("applications are listed newest first, page by page, each once", async () => {
  const made: string[] = [];
  for (let i = 0; i < 5; i++) {
    const fields = { legalName: `Number ${i}`, tradingName: "Acme", countryCode: "DE", currencyCode: "EUR" };
    const { application } = await applications.createApplication({ ...fields, applicantEmail: "ceo@acme.example" });
    const id = application?.id ?? "";
    await applications.submitApplication({ applicationId: id });
    made.unshift(id);
  }
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await applications.listApplications({ status: "submitted", pageSize: 2, pageToken });
    seen.push(...page.applications.map((application) => application.id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && seen.length < 100);
  assert.deepEqual(seen.slice(0, 5), made);
  assert.equal(new Set(seen).size, seen.length);
  await assert.rejects(applications.listApplications({ pageToken: "x" }), refused("INVALID_BODY", "page_token"));
});

test("operators are shown no draft, whose id is its applicant's secret", async () => {
  const fields = { legalName: "Acme Ltd", tradingName: "Acme", countryCode: "DE", currencyCode: "EUR" };
  const made = () => applications.createApplication({ ...fields, applicantEmail: "ceo@acme.example" });
  const [draft = "", submitted = ""] = [(await made()).application?.id, (await made()).application?.id];
  await applications.submitApplication({ applicationId: submitted });
  for (const status of ["", "draft", "submitted"]) {
    const ids = (await applications.listApplications({ status })).applications.map(({ id }) => id);
    assert.deepEqual([ids.includes(draft), ids.includes(submitted)], [false, status !== "draft"], status);
  }
  await assert.rejects(applications.reviewApplication({ applicationId: draft }), refused("NOT_FOUND"));
});

test.run();
