import assert from "node:assert/strict";
import { suite } from "../../test/harness/suite.ts";
import { displayFormats, displayLine, displayPattern, displayText, notBlank } from "./display-text.ts";

const test = suite("display text");
const isLine = displayFormats[displayLine] ?? assert.fail();
const isText = displayFormats[displayText] ?? assert.fail();

test("rejects control characters and direction overrides in every format", () => {
  const codes = [0x1b, 0x00, 0x07, 0x08, 0x0b, 0x7f, 0x85, 0x9b, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e];
  for (const code of [...codes, 0x2066, 0x2067, 0x2068, 0x2069]) {
    const text = `Lemon ${String.fromCodePoint(code)}Books`;
    assert.ok(!isLine(text) && !isText(text), code.toString(16));
  }
});

test("allows line ends in a text but not in a line", () => {
  for (const text of ["Order 1\nLemons", "Order 1\r\nLemons", "a\tb"]) assert.ok(isText(text) && !isLine(text));
  assert.ok(!isLine("a\u2028b"));
});

test("a format's documented pattern agrees with its check for every character", () => {
  for (const format of [displayLine, displayText]) {
    const [any, filled] = [undefined, notBlank].map((own) => new RegExp(displayPattern(format, own) ?? "", "u"));
    for (let code = 0; code < 0x3000; code++) {
      const text = String.fromCodePoint(code);
      const fits = displayFormats[format]?.(text);
      assert.equal(any?.test(text), fits, `${format} ${code.toString(16)}`);
      assert.equal(filled?.test(text), fits && /\S/.test(text), `${format} ${code.toString(16)}, not blank`);
    }
  }
  assert.equal(displayPattern("email", undefined), undefined);
});

test("accepts every script with its marks and emoji", () => {
  const names = [
    "Zoë & Söhne «Café»",
    "商品",
    "مكتبة الليمون\u200f!",
    "ספרים \u200e(2)",
    "👩‍👩‍👧 Lemon\u00a0Books",
    "नमस्ते",
    "",
  ];
  for (const name of names) assert.ok(isLine(name) && isText(name), name);
});

test.run();
