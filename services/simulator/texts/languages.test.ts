import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { chooseLanguage, languages, localeOf } from "./languages.ts";

const test = suite("simulator languages");

test("has every text with the same values in each language", () => {
  const valuesOf = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
  const english = Object.entries(chooseLanguage(["en"]).texts);
  assert.is(languages.size, 10);
  for (const [code, texts] of languages) {
    const own = new Map<string, string>(Object.entries(texts));
    for (const [name, text] of english)
      assert.equal(valuesOf(own.get(name) ?? "{}"), valuesOf(text), `${code} ${name}`);
  }
});

test("prefers the payment's language, then the browser's by weight, then English", () => {
  assert.is(chooseLanguage([undefined, "pt-BR"], "de").tag, "pt-BR");
  assert.is(chooseLanguage([null], "tlh, fr;q=0.4, de-AT;q=0.8, ja;q=0").tag, "de-AT");
  assert.is(chooseLanguage(["<b>", 7, "x".repeat(99)], ";;q=q,,").tag, "en");
  assert.equal([localeOf("AR"), localeOf("tlh"), localeOf({})], ["ar", null, null]);
});

test.run();
