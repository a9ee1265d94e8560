import assert from "node:assert/strict";
import { suite } from "../../test/harness/suite.ts";
import { displayFormats, displayLine } from "./display-text.ts";
import {
  dayOrMoment,
  documentedPattern,
  formatProblem,
  httpsUrl,
  moment,
  ownFormats,
  returnUrl,
} from "./own-formats.ts";

const test = suite("own formats");
const fits = (format: string, text: string) => (ownFormats[format] ?? assert.fail())(text);

test("a URL may contain only the characters of a display line", () => {
  for (const format of [httpsUrl, returnUrl]) {
    for (let code = 0; code < 0x3000; code++) {
      const character = String.fromCodePoint(code);
      const isAccepted = fits(format, `https://shop.example/${character}`);
      assert.equal(isAccepted, displayFormats[displayLine]?.(character), `${format} ${code.toString(16)}`);
    }
  }
});

test("a URL has a scheme and a rest, or is empty", () => {
  for (const text of ["https://shop.example", "HTTPS://shop.example/ü?a=b#c", ""])
    assert.ok(fits(httpsUrl, text), text);
  for (const text of [
    "http://shop.example",
    "https:shop.example",
    " https://shop.example",
    "https://",
    "shop",
    "javascript:1",
  ]) {
    assert.ok(!fits(httpsUrl, text), text);
  }
  assert.ok(fits(returnUrl, "http://localhost:3000/") && !fits(returnUrl, "ftp://localhost/"));
});

test("a time is RFC 3339; a date alone is valid only in dayOrMoment", () => {
  const whole = ["2025-11-21T08:30:00.000Z", "2025-11-21t23:59:59z", "2024-02-29T00:00:00.123456789+23:59"];
  for (const text of whole) assert.ok(fits(moment, text) && fits(dayOrMoment, text), text);
  assert.ok(fits(dayOrMoment, "2025-11-21") && !fits(moment, "2025-11-21"));
  const wrong = ["", "now", "2025-13-01", "2025-00-01", "2025-11-32", "2025-11-21T24:00:00Z", "2025-11-21T08:60:00Z"];
  const more = ["2025-11-21T08:30:60Z", "2025-11-21T08:30:00", "2025-11-21 08:30:00Z", "2025-11-21T08:30:00+24:00"];
  for (const text of [...wrong, ...more]) assert.ok(!fits(moment, text) && !fits(dayOrMoment, text), text);
});

test("only our own formats have a problem text and a documented pattern", () => {
  for (const format of Object.keys(ownFormats)) {
    assert.match(formatProblem(format, "x") ?? "", /^must /);
    assert.ok(documentedPattern(format, undefined), format);
  }
  assert.equal(formatProblem("email", "x"), undefined);
  assert.equal(documentedPattern("email", "^a$"), undefined);
});

test.run();
