import assert from "node:assert/strict";
import { currencyExponent, knownCurrencies } from "#platform/values/money.ts";
import { suite } from "../../test/harness/suite.ts";
import { contrast, readableOn, textOn } from "./branding/contrast.ts";
import { acceptedLanguages, chooseLanguage, errorTexts, languages } from "./languages.ts";
import { pageHeaders, surfaceHosts } from "./page-headers.ts";
import { translated } from "./sdk/error-code.ts";
import { exponentOf, moneyOf } from "./sdk/money.ts";
import { readRender } from "./sdk/render.ts";
import { secretIn, sessionIdIn } from "./session-link.ts";

const test = suite("page rules");

test("the browser uses the service's decimals for every currency", () => {
  const wrong = knownCurrencies().filter((code) => exponentOf(code) !== currencyExponent(code));
  assert.deepEqual(wrong, []);
});

test("formats money with all its decimals in every language", () => {
  assert.equal(moneyOf(1050, "EUR", "en").formatted, "€10.50");
  assert.equal(moneyOf(5, "JPY", "en").formatted, "¥5");
  assert.equal(moneyOf(5, "KWD", "en").formatted.replace(/\s/g, " "), "KWD 0.005");
  assert.equal(moneyOf(99_999_999, "USD", "en-US").formatted, "$999,999.99");
  assert.equal(moneyOf(1050, "EUR", "not a locale").minor, 1050);
  assert.deepEqual(
    [-1050, -5, -100_000].map((minor) => moneyOf(minor, "EUR", "en").formatted),
    ["-€10.50", "-€0.05", "-€1,000.00"],
    "a discount",
  );
});

test("keeps text readable on every merchant colour", () => {
  for (let step = 0; step < 4_096; step += 7) {
    const hex = step.toString(16).padStart(3, "0");
    const colour = `#${[...hex].map((digit) => digit + digit).join("")}`;
    assert.ok(contrast(textOn(colour), colour) >= 4.5, colour);
    for (const background of ["#ffffff", "#1a202c"]) {
      assert.ok(contrast(readableOn(colour, [background]), background) >= 4.5, `${colour} on ${background}`);
    }
  }
});

test("every language has all texts with the same placeholders", () => {
  const names = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
  const english = Object.entries(languages.get("en") ?? {});
  assert.equal(languages.size, 10);
  for (const [language, texts] of languages) {
    const own = new Map<string, string>(Object.entries(texts));
    assert.deepEqual(
      [...own.keys()],
      english.map(([key]) => key),
    );
    for (const [key, text] of english) assert.deepEqual(names(own.get(key) ?? ""), names(text), `${language} ${key}`);
  }
});

test("the SDK loads exactly the existing text files, and each is complete", () => {
  const names = Object.keys(errorTexts.de ?? {}).sort();
  for (const [language, texts] of Object.entries(errorTexts)) {
    assert.deepEqual(Object.keys(texts).sort(), names);
    assert.equal(translated.exec(`${language}-XX`)?.[1], language);
  }
  assert.deepEqual([...languages.keys()].sort(), ["en", ...Object.keys(errorTexts)].sort());
  for (const other of ["en", "tlh", "dev", ""]) assert.equal(translated.test(other), false);
});

test("chooses the first known language and falls back to English", () => {
  assert.equal(chooseLanguage(["xx", "pt-BR"]).tag, "pt-BR");
  assert.equal(chooseLanguage(["ar"]).direction, "rtl");
  assert.equal(chooseLanguage(["", "<script>", "tlh"]).tag, "en");
  assert.deepEqual(acceptedLanguages("fr;q=0.4, de-AT, *;q=0.1, en;q=0"), ["de-AT", "fr", "*"]);
  assert.deepEqual(acceptedLanguages(undefined), []);
});

test("finds id and secret in links that mail programs, chats and people have changed", () => {
  const suffix = "01jd3v9q6k8m2n4p6r8t0v2x4z";
  const [id, secret] = [`cs_${suffix}`, `cs_secret_${suffix}_${"aB-_9".repeat(9).slice(0, 43)}`];
  const added = [
    "",
    "?utm_source=news",
    "&utm_source=news",
    ".",
    ")",
    ",",
    ">",
    "%3E",
    "%20",
    "\u200b",
    "%E2%80%8B",
    "_",
    '"',
    "/",
  ];
  for (const behind of added) {
    for (const between of ["#", "/#", ".#", "%20#", "?a=b#", "%23", "/%23", "?secret=", "?a=b&secret="]) {
      const link = `/c/${id}${between}${secret}${behind}`;
      assert.equal(sessionIdIn(link.split(/[?#]/)[0] ?? ""), id, link);
      assert.equal(secretIn(link, id), secret, link);
    }
  }
  assert.equal(secretIn(`/c/${id}#${secret.slice(0, -1)}`, id), undefined, "an incomplete secret");
  assert.equal(secretIn(`/c/${id}#${secret}`, id.replace("x4z", "x40")), undefined, "another session's");
  assert.equal(sessionIdIn("/c/cs_x"), "");
});

test("the page's policy allows the processors' hosts and no others", () => {
  const policy = pageHeaders(surfaceHosts(["https://form.example"]))["content-security-policy"] ?? "";
  const of = (directive: string) => new RegExp(`${directive} ([^;]*)`).exec(policy)?.[1]?.split(" ");
  const stripe = ["https://js.stripe.com", "https://*.js.stripe.com"];
  const adyen = ["https://checkoutshopper-test.adyen.com", "https://checkoutshopper-live.adyen.com"];
  const files = adyen.map((host) => host.replace(".adyen", ".cdn.adyen"));
  const ofAdyen = adyen.flatMap((host, i) => [host, files[i], host.replace("shopper", "analytics")]);
  assert.deepEqual(of("script-src"), ["'self'", ...stripe, ...files]);
  assert.deepEqual(of("style-src"), ["'self'", ...files]);
  assert.deepEqual(of("frame-src"), [...stripe, "https://hooks.stripe.com", ...adyen, "https://form.example"]);
  assert.deepEqual(of("connect-src"), ["'self'", "https://api.stripe.com", ...ofAdyen]);
  assert.doesNotMatch(policy, /unsafe|\*;| \* /);
});

test("rejects a render with missing fields or a javascript: address", () => {
  assert.equal(readRender({ kind: "frame", frame_url: "javascript:alert(1)" }), undefined);
  assert.equal(readRender({ kind: "frame", frame_url: "http://shop.example" }), undefined);
  assert.equal(readRender({ kind: "element", script_url: "https://js.example", client_secret: "x" }), undefined);
  assert.equal(readRender(null), undefined);
  assert.equal(readRender({ kind: "redirect", redirect_url: "https://pay.example/1" })?.kind, "redirect");
  const element = { kind: "element", script_url: "https://js.example", client_secret: "x", publishable_key: "y" };
  const shown = readRender({ ...element, style_url: "javascript:alert(1)" });
  assert.ok(shown?.kind === "element" && shown.styleUrl === undefined);
});

test.run();
