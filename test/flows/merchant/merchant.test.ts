// Merchants, keys, connectors and applications over RPC on a fresh database.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { startPeopleOverRpc } from "./people-over-rpc.ts";

const test = suite("merchant service");
const sandbox = Environment.SANDBOX;

const rpc = fixture(test, () => startPeopleOverRpc());
const merchants = fixture(test, () => rpc.merchants);
const keys = fixture(test, () => rpc.keys);
const connectors = fixture(test, () => rpc.connectors);
const applications = fixture(test, () => rpc.applications);

async function newKey(merchantId: string) {
  const scopes = ["payments:read", "merchant:read"];
  const issued = await keys.createApiKey({ merchantId, environment: sandbox, name: "backend", scopes });
  assert(issued.apiKey);
  return { secret: issued.secret, id: issued.apiKey.id };
}

test("a new merchant is active, has default branding, and can take sandbox payments", async () => {
  const id = await rpc.newMerchant();
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
  await rpc.announced.event("merchant.created", id);
});

test("merchants are found by a part of name, legal name or e-mail in any case, page by page, and by their ids", async () => {
  const words = { country: "DE", currency: "EUR" };
  const [first, second, third] = await Promise.all([
    merchants.createMerchant({ ...words, name: "Zitronen & Söhne", legalName: "", email: "shop@agrumi.example" }),
    merchants.createMerchant({ ...words, name: "Citrus", legalName: "ZITRONEN-Haus GmbH", email: "a@citrus.example" }),
    merchants.createMerchant({ ...words, name: "50%_off", legalName: "", email: "ZITRONEN@off.example" }),
  ]);
  const ids = [first, second, third].map(({ merchant }) => merchant?.id ?? "");
  const find = async (filter: object) => (await merchants.listMerchants(filter)).merchants.map(({ id }) => id);
  const sorted = (of: readonly string[]) => of.toSorted();
  assert.deepEqual(sorted(await find({ query: " zItRoNeN " })), sorted(ids));
  assert.deepEqual(await find({ query: "agrumi.ex" }), [ids[0]]);
  assert.deepEqual(await find({ query: "haus gmbh" }), [ids[1]]);
  assert.deepEqual(await find({ query: "0%_o" }), [ids[2]], "signs of patterns are text");
  assert.deepEqual(await find({ query: "zitr%haus" }), []);
  assert.deepEqual(await find({ query: "zitronen", status: "suspended" }), []);
  assert.deepEqual(await find({ merchantIds: [ids[1] ?? "", newId("merchant")] }), [ids[1]]);
  const page = await merchants.listMerchants({ query: "zitronen", pageSize: 2 });
  const rest = await merchants.listMerchants({ query: "zitronen", pageSize: 2, pageToken: page.nextPageToken });
  assert.deepEqual(sorted([...page.merchants, ...rest.merchants].map(({ id }) => id)), sorted(ids));
  assert.equal(rest.nextPageToken, "");
});

test("an account is found by the processor's id and by ours", async () => {
  const merchantId = await rpc.newMerchant();
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
    isRefusal("NOT_FOUND"),
  );
});

test("new sessions get an account only for an active merchant with one in the environment", async () => {
  const merchantId = await rpc.newMerchant();
  const ask = (environment: Environment) => connectors.getActiveConnectorAccount({ merchantId, environment });
  await assert.rejects(ask(Environment.LIVE), isRefusal("NO_CONNECTOR"));
  const suspension = { merchantId, status: "suspended" };
  const reason = "x".repeat(501);
  await assert.rejects(merchants.updateMerchantState({ ...suspension, reason }), isRefusal("INVALID_BODY", "reason"));
  await merchants.updateMerchantState(suspension);
  await assert.rejects(ask(sandbox), isRefusal("FORBIDDEN"));
  assert.equal((await rpc.announced.event("merchant.updated", merchantId)).status, "suspended");
  await merchants.updateMerchantState({ merchantId, status: "active" });
  assert.equal((await ask(sandbox)).account?.merchantStatus, "active");
  await assert.rejects(
    connectors.getActiveConnectorAccount({ merchantId: newId("merchant"), environment: sandbox }),
    isRefusal("NOT_FOUND"),
  );
});

test("a key's last use only moves forward", async () => {
  const merchantId = await rpc.newMerchant();
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

test("applications are listed newest first, each once", async () => {
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
  await assert.rejects(applications.listApplications({ pageToken: "x" }), isRefusal("INVALID_BODY", "page_token"));
});

test("operators see no draft, whose id is its applicant's secret", async () => {
  const fields = { legalName: "Acme Ltd", tradingName: "Acme", countryCode: "DE", currencyCode: "EUR" };
  const made = () => applications.createApplication({ ...fields, applicantEmail: "ceo@acme.example" });
  const [draft = "", submitted = ""] = [(await made()).application?.id, (await made()).application?.id];
  await applications.submitApplication({ applicationId: submitted });
  for (const status of ["", "draft", "submitted"]) {
    const ids = (await applications.listApplications({ status })).applications.map(({ id }) => id);
    assert.deepEqual([ids.includes(draft), ids.includes(submitted)], [false, status !== "draft"], status);
  }
  await assert.rejects(applications.reviewApplication({ applicationId: draft }), isRefusal("NOT_FOUND"));
});

test.run();
