// docs/contract.md §10: the limits, their headers, their scope, and how they hold across replicas.
import assert from "node:assert/strict";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Answer, type Api, apiClient, merchantApi } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { freshKey, freshMerchant } from "../harness/merchant.ts";
import { contractSuite } from "./caller.ts";
import { apiDocument } from "./document.ts";
import { type OwnGateway, ownGateway } from "./own-gateway.ts";

const { test, running } = contractSuite("rate limits", { timeoutMs: 30_000 });
let limited: OwnGateway;

test.before(async () => {
  limited = await ownGateway(running, { RATE_LIMIT: "on" });
});
test.after(() => limited.stop());

/** Sends until something else than 429 would be a surprise. */
async function storm(count: number, send: () => Promise<Answer>): Promise<{ allowed: number; refused: Answer[] }> {
  const answers = await Promise.all(Array.from({ length: count }, send));
  const refused = answers.filter((answer) => answer.status === 429);
  return { allowed: answers.length - refused.length, refused };
}

function assertRetryAfter(
  document: Awaited<ReturnType<typeof apiDocument>>,
  operation: string,
  answer: Answer,
  limit: number,
): void {
  document.check(operation, answer);
  assert.equal(answer.text("error.code"), "rate_limited");
  assert.ok(Number(answer.headers.get("retry-after")) >= 1);
  assert.equal(answer.headers.get("ratelimit-limit"), String(limit));
  assert.equal(answer.headers.get("ratelimit-remaining"), "0");
  assert.ok(Number(answer.headers.get("ratelimit-reset")) >= 1);
}

test("a sandbox key has a burst of 50, then 25 a second; another key is not concerned", async () => {
  const document = await apiDocument(limited.gateway);
  const [one, two] = [await freshMerchant(running), await freshMerchant(running)];
  const client = merchantApi(limited.gateway, one.apiKey);
  await client.get("/v1/merchants/me");
  const began = performance.now();
  const { allowed, refused } = await storm(120, () => client.get("/v1/merchants/me"));
  const seconds = (performance.now() - began) / 1000;
  assert.ok(allowed >= 49 && allowed <= 51 + 25 * seconds, `${allowed} in ${seconds} s`);
  for (const answer of refused) assertRetryAfter(document, "getMerchant", answer, 25);
  const other = await merchantApi(limited.gateway, two.apiKey).get("/v1/merchants/me");
  assert.deepEqual([other.status, other.headers.get("ratelimit-remaining")], [200, "49"]);
  await eventually("the key to be allowed again", async () => (await client.get("/v1/merchants/me")).status === 200);
});

test("a merchant's keys together have four times the limit of one in an environment, and none wastes the others' share", async () => {
  const tight = await ownGateway(running, { RATE_LIMIT: "on", RATE_LIMIT_SANDBOX_PER_SECOND: "1" });
  const document = await apiDocument(tight.gateway);
  const merchant = await freshMerchant(running);
  const keys = await Promise.all(Array.from({ length: 9 }, () => freshKey(running, merchant.id)));
  const [wasteful, other, ...others] = keys.map((key) => {
    const client = merchantApi(tight.gateway, key);
    return () => client.get("/v1/merchants/me");
  });
  assert(wasteful && other);
  const began = performance.now();
  const wasted = await storm(100, wasteful);
  for (const answer of wasted.refused) assertRetryAfter(document, "getMerchant", answer, 1);
  assert.equal((await other()).status, 200, "what was refused to one key is left for the others");
  const storms = await Promise.all(others.map((send) => storm(20, send)));
  const seconds = (performance.now() - began) / 1000;
  const allowed = [wasted, ...storms].reduce((sum, each) => sum + each.allowed, 1);
  assert.ok(allowed >= 8 && allowed <= 9 + 4 * seconds, `${allowed} in ${seconds} s`);
  const forAll = storms.flatMap(({ refused }) => refused).find(({ headers }) => headers.get("ratelimit-limit") === "4");
  assertRetryAfter(document, "getMerchant", forAll ?? assert.fail("no key was refused for the merchant's limit"), 4);
  const live = await freshKey(running, merchant.id, { environment: Environment.LIVE });
  assert.equal((await merchantApi(tight.gateway, live).get("/v1/merchants/me")).status, 200);
  await tight.stop();
});

test("a session is resolved 60 times and confirmed 10 times a minute; who does not know its secret uses up nothing", async () => {
  const document = await apiDocument(limited.gateway);
  const merchant = await freshMerchant(running);
  const session = await merchant.api.post("/v1/checkout-sessions", { amount: 100, currency: "EUR" });
  const buyer = apiClient(limited.gateway);
  const path = `/v1/checkout/${session.text("id")}`;
  const right = `secret=${session.text("session_secret")}`;
  const wrong = `secret=${session.text("session_secret").slice(0, -4)}AAAA`;
  const guesses = await storm(70, () => buyer.get(`${path}?${wrong}`));
  assert.equal(guesses.allowed, 60);
  const resolved = await storm(70, () => buyer.get(`${path}?${right}`));
  assert.equal(resolved.allowed, 60);
  for (const answer of resolved.refused) assertRetryAfter(document, "resolveCheckout", answer, 60);
  assert.equal(resolved.refused[0]?.headers.get("access-control-allow-origin"), "*");
  const confirmed = await storm(15, () => buyer.post(`${path}/confirm?${right}`));
  assert.equal(confirmed.allowed, 10);
  for (const answer of confirmed.refused) assertRetryAfter(document, "confirmCheckout", answer, 10);
});

test("an address confirms 30 times a minute over all sessions", async () => {
  const fresh = await ownGateway(running, { RATE_LIMIT: "on" });
  const secret = (i: number) => `cs_secret_01jd3v9q6k8m2n4p6r8t0v2x4z_${String(i).padStart(43, "a")}`;
  let i = 0;
  const path = "/v1/checkout/cs_01jd3v9q6k8m2n4p6r8t0v2x4z/confirm";
  const { allowed } = await storm(40, () => apiClient(fresh.gateway).post(`${path}?secret=${secret(i++)}`));
  await fresh.stop();
  assert.equal(allowed, 30);
});

test("who has made all the applications of an hour reads, changes and submits one of them, 60 times an hour", async () => {
  const own = await ownGateway(running, { RATE_LIMIT: "on" });
  const document = await apiDocument(own.gateway);
  const applicant = apiClient(own.gateway);
  const path = "/v1/onboarding/applications";
  const made = await applicant.post(path, { legal_name: "Lemon Books GmbH" });
  await storm(5, () => applicant.post(path, {}));
  assertRetryAfter(document, "createApplication", await applicant.post(path, {}), 5);
  const draft = `${path}/${made.text("id")}`;
  const rest = { trading_name: "Lemon Books", country_code: "DE", currency_code: "EUR" };
  assert.equal((await applicant.get(draft)).status, 200);
  (await applicant.patch(draft, { applicant_email: "owner@lemonbooks.example", ...rest })).expect(200);
  assert.equal((await applicant.post(`${draft}/submit`)).text("status"), "submitted");
  const { allowed, refused } = await storm(60, () => applicant.get(draft));
  assert.equal(allowed, 57);
  for (const answer of refused) assertRetryAfter(document, "getApplication", answer, 60);
  await own.stop();
});

test("an address makes 5 applications an hour; X-Forwarded-For is not believed unless the proxy is", async () => {
  const document = await apiDocument(limited.gateway);
  let i = 0;
  const send = (gateway: string) => () =>
    apiClient(gateway).post("/v1/onboarding/applications", {}, { "x-forwarded-for": `203.0.113.${i++}` });
  const { allowed, refused } = await storm(8, send(limited.gateway));
  assert.equal(allowed, 5);
  for (const answer of refused) assertRetryAfter(document, "createApplication", answer, 5);
  const proxied = await ownGateway(running, { RATE_LIMIT: "on", TRUST_PROXY: "127.0.0.1" });
  assert.equal((await storm(8, send(proxied.gateway))).allowed, 8);
  await proxied.stop();
});

/** Sends 400 requests that claim what is not so. @returns the statuses that came, each with its count */
async function claims(gateway: string, claim: (api: Api, i: number) => Promise<Answer>): Promise<Map<number, number>> {
  const answers = await Promise.all(Array.from({ length: 400 }, (_, i) => claim(apiClient(gateway), i)));
  return new Map([...Map.groupBy(answers, ({ status }) => status)].map(([status, of]) => [status, of.length]));
}

test("of 400 unknown keys, wrong secrets, unknown pages and forged events from one address few are looked up; who is honest there goes on", async () => {
  const merchant = await freshMerchant(running);
  const account = (await merchant.api.get("/v1/merchants/me/connectors")).text("data.0.external_account_id");
  const session = await merchant.api.post("/v1/checkout-sessions", { amount: 100, currency: "EUR" });
  const right = `secret=${session.text("session_secret")}`;
  const resolve = `/v1/checkout/${session.text("id")}`;
  const own = await ownGateway(running, { RATE_LIMIT: "on" });
  const honest = merchantApi(own.gateway, merchant.apiKey);
  (await honest.get("/v1/merchants/me")).expect(200);
  const text = (i: number, length: number) => String(i).padStart(length, "0");
  const keys = await claims(own.gateway, (each, i) =>
    each.get("/v1/merchants/me", { authorization: `Bearer sk_test_${text(i, 46)}` }),
  );
  const secrets = await claims(own.gateway, (each, i) => {
    const id = `01jd3v9q6k8m2n4p6r8t0${text(i, 5)}`;
    return each.get(`/v1/checkout/cs_${id}?secret=cs_secret_${id}_${text(i, 43)}`);
  });
  const pages = await claims(own.gateway, (each, i) => each.get(`/c/cs_01jd3v9q6k8m2n4p6r8t0${text(i, 5)}`));
  const events = await claims(own.gateway, (each) => each.post(`/processors/simulator/${account}`, "{}"));
  const accounts = await claims(own.gateway, (each, i) => each.post(`/processors/simulator/acct_${i}`, "{}"));
  // The buckets fill a little meanwhile.
  for (const [counts, status, limit] of [
    [keys, 401, 60],
    [secrets, 404, 120],
    [pages, 200, 120],
    [events, 400, 300],
  ] as const) {
    const allowed = counts.get(status) ?? 0;
    assert.ok(allowed >= limit && allowed < limit + 90, `${status}: ${allowed}`);
    assert.equal(counts.get(429), 400 - allowed);
  }
  assert.ok((accounts.get(429) ?? 0) > 300, "the events' bucket, which is empty already");
  (await honest.get("/v1/merchants/me")).expect(200);
  await own.stop();
  // A gateway that has none of their buckets, and one whose buckets are as small as can be: good look-ups give their
  // tokens back.
  const one = "1";
  const tight = await ownGateway(running, {
    RATE_LIMIT: "on",
    RATE_LIMIT_REFUSED_KEYS_PER_MINUTE: one,
    RATE_LIMIT_REFUSED_SECRETS_PER_MINUTE: one,
    RATE_LIMIT_REFUSED_PAGES_PER_MINUTE: one,
  });
  for (let i = 0; i < 5; i++) {
    const { apiKey } = await freshMerchant(running);
    (await merchantApi(tight.gateway, apiKey).get("/v1/merchants/me")).expect(200);
    (await apiClient(tight.gateway).get(`${resolve}?${right}`)).expect(200);
    (await apiClient(tight.gateway).get(`/c/${session.text("id")}`)).expect(200);
  }
  await tight.stop();
});

test("a limited key that is tried from elsewhere uses up its address's limit, and its owner goes on", async () => {
  const environment = Environment.LIVE;
  const merchant = await freshMerchant(running, { environment });
  const body = { name: "till", scopes: ["merchant:read"], allowed_ips: ["203.0.113.0/24"] };
  const made = (await merchant.api.post("/v1/merchants/me/api-keys", body)).expect(201);
  const few = { RATE_LIMIT_REFUSED_KEYS_PER_MINUTE: "10" };
  const own = await ownGateway(running, { RATE_LIMIT: "on", TRUST_PROXY: "1", ...few });
  const stolen = { authorization: `Bearer ${made.text("api_key")}` };
  const counts = await claims(own.gateway, (each) => each.get("/v1/merchants/me", stolen));
  const judged = counts.get(403) ?? 0;
  assert.ok(judged >= 100 && judged < 190, String(judged));
  assert.equal(counts.get(429), 400 - judged);
  const owner = { ...stolen, "x-forwarded-for": "203.0.113.9" };
  (await apiClient(own.gateway).get("/v1/merchants/me", owner)).expect(200);
  await own.stop();
});

test("IPv6 addresses count by their /64, and by their /48 ten times as much", async () => {
  const own = await ownGateway(running, { RATE_LIMIT: "on", TRUST_PROXY: "1" });
  const from = (address: (i: number) => string, count: number) => {
    let i = 0;
    return storm(count, () =>
      apiClient(own.gateway).post("/v1/onboarding/applications", {}, { "x-forwarded-for": address(i++) }),
    );
  };
  assert.equal((await from((i) => `2001:db8:1:1::${i}`, 8)).allowed, 5);
  assert.equal((await from((i) => `2001:db8:1:${(i + 2).toString(16)}::1`, 60)).allowed, 45, "5 of 50 are taken");
  assert.equal((await from((i) => `2001:db8:2:${i}::1`, 8)).allowed, 8);
  await own.stop();
});

test("with a number of trusted proxies the address is the one that the farthest of them saw, whatever precedes it", async () => {
  const send = (gateway: string, forwarded: (i: number) => string) => {
    let i = 0;
    return storm(8, () =>
      apiClient(gateway).post("/v1/onboarding/applications", {}, { "x-forwarded-for": forwarded(i++) }),
    );
  };
  const one = await ownGateway(running, { RATE_LIMIT: "on", TRUST_PROXY: "1" });
  assert.equal((await send(one.gateway, (i) => `10.0.0.${i}, 203.0.113.1`)).allowed, 5);
  assert.equal((await send(one.gateway, (i) => `203.0.113.9, 10.1.0.${i}`)).allowed, 8);
  assert.equal((await send(one.gateway, (i) => `203.0.113.2:${50_000 + i}`)).allowed, 5, "a port is no other caller");
  assert.equal((await send(one.gateway, (i) => `_hidden${i}`)).allowed, 5, "what is no address is one caller");
  await one.stop();
  const two = await ownGateway(running, { RATE_LIMIT: "on", TRUST_PROXY: "2" });
  assert.equal((await send(two.gateway, (i) => `10.0.0.${i}, 203.0.113.1, 10.2.0.${i}`)).allowed, 5);
  await two.stop();
});

test("what one replica allowed counts at the other within a moment", async () => {
  const limit = 10_000;
  const settings = {
    RATE_LIMIT: "on",
    NATS_NAMESPACE: `pair-${process.pid}`,
    RATE_LIMIT_ONBOARDING_PER_HOUR: `${limit}`,
  };
  const [left, right] = [await ownGateway(running, settings), await ownGateway(running, settings)];
  const remaining = async (gateway: string) =>
    Number((await apiClient(gateway).post("/v1/onboarding/applications", {})).headers.get("ratelimit-remaining"));
  let requestCount = 0;
  await eventually("the other replica to count 20 requests that it did not get", async () => {
    await remaining(left.gateway);
    requestCount += 1;
    return limit - (await remaining(right.gateway)) - requestCount >= 20;
  });
  await Promise.all([left.stop(), right.stop()]);
});

test("without the broker every replica limits on its own, and only the caller concerned", async () => {
  const alone = await ownGateway(running, { RATE_LIMIT: "on", NATS_URL: "nats://127.0.0.1:9" });
  const merchant = await freshMerchant(running);
  const { allowed } = await storm(60, () => merchantApi(alone.gateway, merchant.apiKey).get("/v1/merchants/me"));
  assert.ok(allowed >= 50);
  await alone.stop();
});

test.run();
