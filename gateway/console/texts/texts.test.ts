import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { fillText, languages, pluralText, textsOf } from "./texts.ts";

const test = suite("console texts");

/** Texts by path, for example `keys.title`. */
function textsByPath(value: object, path = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, each] of Object.entries(value)) {
    if (typeof each === "string") found.set(path + key, each);
    else for (const [inner, text] of textsByPath(each, `${path}${key}.`)) found.set(inner, text);
  }
  return found;
}

const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

test("every language has the same keys and placeholders", () => {
  const english = textsByPath(textsOf("en"));
  assert.ok(english.size > 1_000);
  for (const language of languages) {
    const own = textsByPath(textsOf(language));
    assert.deepEqual([...own.keys()], [...english.keys()]);
    for (const [path, text] of own) assert.deepEqual(placeholders(text), placeholders(english.get(path) ?? ""), path);
  }
});

test("fills placeholders and picks the plural form of a number", () => {
  assert.equal(fillText("{b} of {a}", { a: 2, b: "one" }), "one of 2");
  const forms = { one: "{count} payment", other: "{count} payments" };
  assert.deepEqual(
    [0n, 1n, 1_204n].map((count) => pluralText("en", forms, count)),
    ["0 payments", "1 payment", "1,204 payments"],
  );
});

test.run();
