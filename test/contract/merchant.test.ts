// docs/contract.md §8: the merchant, its profile and its branding; docs/contract.md §8.
import assert from "node:assert/strict";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { freshKey, freshMerchant } from "../harness/merchant.ts";
import { asBuyer, type CallOptions, contractSuite } from "./caller.ts";

const { test, running, merchant, api } = contractSuite("merchant");

const profile = (body: object) => api.call("updateProfile", 200, { body });
const branding = (body: object) => api.call("updateBranding", 200, { body });

// Proves getMerchant: response
test("docs/contract.md §8: the merchant has exactly its six fields", async () => {
  assert.deepEqual((await api.call("getMerchant", 200)).body, {
    id: merchant.id,
    name: "Test Store",
    status: "active",
    country_code: "US",
    currency_code: "USD",
    email: "owner@example.com",
  });
});

// Proves updateProfile: response
test("docs/contract.md §8: profile fields change one by one; null clears the optional ones; the others are left out", async () => {
  const set = { legal_name: "Lemon Books GmbH", phone: "+49301234567", website: "https://lemonbooks.example/" };
  const full = await profile({ name: "Lemon Books", email: "Owner@lemonbooks.example", ...set });
  assert.deepEqual(full.body, {
    id: merchant.id,
    name: "Lemon Books",
    status: "active",
    country: "US",
    currency: "USD",
    email: "Owner@lemonbooks.example",
    ...set,
  });
  assert.deepEqual((await profile({})).body, full.body);
  const cleared = await profile({ phone: null, website: null });
  assert.deepEqual(
    [cleared.at("phone"), cleared.at("website"), cleared.at("legal_name")],
    [undefined, undefined, "Lemon Books GmbH"],
  );
  assert.ok(!cleared.raw.includes("null"));
  assert.equal((await api.call("getMerchant", 200)).at("name"), "Lemon Books");
});

test("docs/contract.md §8: a change of country or currency is rejected as a whole", async () => {
  const before = await profile({ country: "us", currency: "USD" });
  assert.deepEqual([before.at("country"), before.at("currency")], ["US", "USD"]);
  const body = { country: "DE", currency: "EUR", name: "Moved Books" };
  const answer = await api.refused("updateProfile", 400, "invalid_body", { body });
  assert.deepEqual(answer.at("error.details"), [
    { field: "country", problem: "cannot be changed; it is US" },
    { field: "currency", problem: "cannot be changed; it is USD" },
  ]);
  assert.deepEqual((await profile({})).body, before.body);
});

// Proves updateProfile: errors
test("docs/contract.md §2: a bad profile field is invalid_body, named, and nothing changes", async () => {
  const before = (await profile({})).body;
  const wrong: [string, Record<string, unknown>][] = [
    ["name", { name: "" }],
    ["name", { name: null }],
    ["name", { name: "x".repeat(101) }],
    ["email", { email: null }],
    ["email", { email: "nobody" }],
    ["phone", { phone: "030 123" }],
    ["phone", { phone: "+0123456789" }],
    ["website", { website: "http://lemonbooks.example" }],
    ["website", { website: "https://" }],
    ["website", { website: "https://u:p@lemonbooks.example" }],
    ["legal_name", { legal_name: 7 }],
  ];
  for (const [field, body] of wrong) {
    const answer = await api.refused("updateProfile", 400, "invalid_body", { body });
    assert.equal(answer.at("error.details.0.field"), field, JSON.stringify(body).slice(0, 80));
  }
  assert.deepEqual((await profile({})).body, before);
});

// Proves getBranding: response; updateBranding: response
test("docs/contract.md §8: branding begins with its defaults and takes any of the fourteen fields", async () => {
  const styles = { button_style: "rounded", background_style: "subtle", theme: "light", font_family: "inter" };
  const defaults = { ...styles, email_field: "hidden", email_receipts: "off" };
  assert.deepEqual((await api.call("getBranding", 200)).body, defaults);
  const full = {
    display_name: "Lemon Books",
    tagline: "Books with zest",
    logo_url: "https://lemonbooks.example/logo.svg",
    accent_color: "#0a7d4f",
    secondary_color: "#ffffff",
    support_email: "help@lemonbooks.example",
    button_style: "pill",
    background_style: "gradient",
    theme: "auto",
    font_family: "noto_serif",
    terms_url: "https://lemonbooks.example/terms",
    privacy_url: "https://lemonbooks.example/privacy",
    email_field: "required",
    email_receipts: "on",
  };
  assert.deepEqual((await branding({ ...full, accent_color: "#0A7D4F" })).body, full);
  assert.deepEqual((await api.call("getBranding", 200)).body, full);
  const cleared = await branding({ tagline: null, logo_url: null, accent_color: null });
  const { tagline, logo_url, accent_color, ...rest } = full;
  assert.ok(tagline && logo_url && accent_color);
  assert.deepEqual(cleared.body, rest);
});

test("docs/contract.md §1: fields that branding does not have are passed over and named in the answer", async () => {
  const answer = await branding({ tagline: "Good things", colour: "green", größe: 3 });
  assert.equal(answer.headers.get("ignored-fields"), "colour, gr%C3%B6%C3%9Fe");
  await branding({ tagline: "Good things", [`${"a".repeat(31)}😀`]: 1 });
  assert.equal(answer.at("colour"), undefined);
  assert.equal((await branding({ tagline: "Good things" })).headers.get("ignored-fields"), null);
});

// Proves updateBranding: errors
test("docs/contract.md §2: a bad branding field is invalid_body, named, and nothing changes", async () => {
  const before = (await api.call("getBranding", 200)).body;
  const wrong: [string, Record<string, unknown>][] = [
    ["display_name", { display_name: "x".repeat(101) }],
    ["tagline", { tagline: "x".repeat(141) }],
    ["logo_url", { logo_url: "http://lemonbooks.example/logo.svg" }],
    ["logo_url", { logo_url: "data:image/svg+xml,x" }],
    ["accent_color", { accent_color: "red" }],
    ["accent_color", { accent_color: "#fff" }],
    ["secondary_color", { secondary_color: "#0a7d4f;}" }],
    ["support_email", { support_email: "x" }],
    ["button_style", { button_style: "square" }],
    ["background_style", { background_style: null }],
    ["theme", { theme: "Light" }],
    ["font_family", { font_family: "comic_sans" }],
    ["terms_url", { terms_url: "http://lemonbooks.example/terms" }],
    ["privacy_url", { privacy_url: "javascript:alert(1)" }],
  ];
  for (const [field, body] of wrong) {
    const answer = await api.refused("updateBranding", 400, "invalid_body", { body });
    assert.equal(answer.at("error.details.0.field"), field, JSON.stringify(body).slice(0, 80));
  }
  assert.deepEqual((await api.call("getBranding", 200)).body, before);
});

test("docs/contract.md §8: a sandbox key changes nothing that is seen live, and buyers see the copy of their session", async () => {
  const two = await freshMerchant(running);
  const live = { as: await freshKey(running, two.id, { environment: Environment.LIVE }) };
  const sandbox = { as: two.apiKey };
  const seen = async (sent: CallOptions) => [
    (await api.call("updateProfile", 200, { ...sent, body: {} })).body,
    (await api.call("getMerchant", 200, sent)).body,
    (await api.call("getBranding", 200, sent)).body,
  ];
  const before = await seen(live);
  assert.deepEqual(await seen(sandbox), before, "both begin alike");
  const trial = { display_name: "Trial", support_email: "trial@lemonbooks.example", tagline: "Only a test" };
  await api.call("updateBranding", 200, { ...sandbox, body: trial });
  await api.call("updateProfile", 200, { ...sandbox, body: { name: "Trial Ltd", email: "trial@lemonbooks.example" } });
  assert.deepEqual(await seen(live), before);
  await api.call("updateBranding", 200, { ...live, body: { display_name: "Lemon Books", theme: "dark" } });
  await api.call("updateProfile", 200, { ...live, body: { website: "https://lemonbooks.example/" } });
  const session = await api.call("createCheckoutSession", 201, { ...sandbox, body: { amount: 100, currency: "EUR" } });
  const page = () => api.call("resolveCheckout", 200, asBuyer(session));
  assert.equal((await page()).text("branding.theme"), "light");
  assert.deepEqual((await page()).at("merchant"), { display_name: "Trial", support_email: trial.support_email });
  await api.call("updateBranding", 200, { ...sandbox, body: { display_name: null } });
  assert.equal((await page()).text("merchant.display_name"), "Trial Ltd");
  const [profile, merchantNow] = await seen(sandbox);
  assert.deepEqual([profile?.website, merchantNow?.name], [undefined, "Trial Ltd"]);
});

test("every described code of these operations was seen", () =>
  api.sawEverything([], "getMerchant", "updateProfile", "getBranding", "updateBranding"));

test.run();
