// The pure parts of the buyer's side: money, colours, languages, the page's policy.
import assert from "node:assert/strict";
import { currencies, currencyExponent } from "#platform/values/money.ts";
import { suite } from "../../test/harness/suite.ts";
import { acceptedLanguages, chooseLanguage, errorTexts, languages } from "./languages.ts";
import { contrast, readableOn, textOn } from "./look/contrast.ts";
import { pageHeaders } from "./page-headers.ts";
import { pageScripts } from "./page-scripts.ts";
import { spoken } from "./sdk/error-code.ts";
import { exponentOf, moneyOf } from "./sdk/money.ts";
import { readRender } from "./sdk/render.ts";
import { secretIn, sessionIdIn } from "./session-link.ts";
import { surfaceHosts } from "./surface-hosts.ts";

const test = suite("page rules");

test("the browser's decimals are those of the service, for every currency", () => {
  const wrong = currencies().filter((code) => exponentOf(code) !== currencyExponent(code));
  assert.deepEqual(wrong, []);
});

test("money keeps its last minor unit and its decimals in every language", () => {
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

test("text is readable on every colour that a merchant may choose", () => {
  for (let step = 0; step < 4_096; step += 7) {
    const hex = step.toString(16).padStart(3, "0");
    const colour = `#${[...hex].map((digit) => digit + digit).join("")}`;
    assert.ok(contrast(textOn(colour), colour) >= 4.5, colour);
    for (const background of ["#ffffff", "#1a202c"]) {
      assert.ok(contrast(readableOn(colour, [background]), background) >= 4.5, `${colour} on ${background}`);
    }
  }
});

test("every language has every text with the same values in it", () => {
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

test("the SDK asks for the files of words that there are, with every word in each", () => {
  const names = Object.keys(errorTexts.de ?? {}).sort();
  for (const [language, texts] of Object.entries(errorTexts)) {
    assert.deepEqual(Object.keys(texts).sort(), names);
    assert.equal(spoken.exec(`${language}-XX`)?.[1], language);
  }
  assert.deepEqual([...languages.keys()].sort(), ["en", ...Object.keys(errorTexts)].sort());
  for (const other of ["en", "tlh", "dev", ""]) assert.equal(spoken.test(other), false);
});

test("the language is the address's, then the session's, then the browser's, then English", () => {
  assert.equal(chooseLanguage(["xx", "pt-BR"]).tag, "pt-BR");
  assert.equal(chooseLanguage(["ar"]).direction, "rtl");
  assert.equal(chooseLanguage(["", "<script>", "tlh"]).tag, "en");
  assert.deepEqual(acceptedLanguages("fr;q=0.4, de-AT, *;q=0.1, en;q=0"), ["de-AT", "fr", "*"]);
  assert.deepEqual(acceptedLanguages(undefined), []);
});

test("a link's id and secret are found whatever mail tools, chats and people add to it", () => {
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
  assert.equal(secretIn(`/c/${id}#${secret.slice(0, -1)}`, id), undefined, "a part of it");
  assert.equal(secretIn(`/c/${id}#${secret}`, id.replace("x4z", "x40")), undefined, "another session's");
  assert.equal(sessionIdIn("/c/cs_x"), "");
});

test("the page's policy names the hosts of the processors, and no others", () => {
  const policy = pageHeaders(surfaceHosts(["https://form.example"]))["content-security-policy"] ?? "";
  const of = (directive: string) => new RegExp(`${directive} ([^;]*)`).exec(policy)?.[1]?.split(" ");
  const stripe = ["https://js.stripe.com", "https://*.js.stripe.com"];
  assert.deepEqual(of("script-src"), ["'self'", ...stripe]);
  assert.deepEqual(of("frame-src"), [...stripe, "https://hooks.stripe.com", "https://form.example"]);
  assert.deepEqual(of("connect-src"), ["'self'", "https://api.stripe.com"]);
  assert.doesNotMatch(policy, /unsafe|\*;| \* /);
});

test("every script that the policy lets run is in the list, with its owner, its reason and how it is known", () => {
  const policy = pageHeaders(surfaceHosts([]))["content-security-policy"] ?? "";
  const allowed = /script-src ([^;]*)/.exec(policy)?.[1]?.split(" ");
  assert.deepEqual(
    allowed,
    pageScripts.map(({ source }) => source),
  );
  for (const { owner, reason, integrity } of pageScripts) assert.ok(owner && reason && integrity);
});

test("a render that lacks what its kind needs, or points to a script address, mounts nothing", () => {
  assert.equal(readRender({ kind: "frame", frame_url: "javascript:alert(1)" }), undefined);
  assert.equal(readRender({ kind: "frame", frame_url: "http://shop.example" }), undefined);
  assert.equal(readRender({ kind: "element", script_url: "https://js.example", client_secret: "x" }), undefined);
  assert.equal(readRender(null), undefined);
  assert.equal(readRender({ kind: "redirect", redirect_url: "https://pay.example/1" })?.kind, "redirect");
});

test.run();
