import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { readReports } from "./page-reports.ts";

const test = suite("page reports");
const secret = `cs_secret_01jd3v9q6k8m2n4p6r8t0v2x4z_${"a".repeat(43)}`;

test("keeps only directive, disposition and origin of a report of either kind", () => {
  const newer = {
    type: "csp-violation",
    url: `https://pay.example/c/cs_1?secret=${secret}`,
    body: {
      documentURL: `https://pay.example/c/cs_1?secret=${secret}`,
      blockedURL: `https://evil.example/${secret}?x=${secret}`,
      effectiveDirective: "script-src-elem",
      disposition: "enforce",
      sample: secret,
    },
  };
  const older = {
    "csp-report": {
      "document-uri": `https://pay.example/c/cs_1?secret=${secret}`,
      "blocked-uri": "inline",
      "violated-directive": "script-src",
    },
  };
  const trusted = {
    body: { effectiveDirective: "require-trusted-types-for", disposition: "report", blockedURL: "trusted-types-sink" },
  };
  const read = [...readReports([newer, trusted]), ...readReports(older)];
  assert.deepEqual(read, [
    { directive: "script-src-elem", disposition: "enforce", blocked: "https://evil.example" },
    { directive: "require-trusted-types-for", disposition: "report", blocked: "trusted-types-sink" },
    { directive: "script-src", disposition: "enforce", blocked: "inline" },
  ]);
});

test("ignores junk, replaces unexpected values by other, and reads at most ten reports", () => {
  for (const junk of [
    null,
    7,
    "x",
    {},
    [],
    [null, 1, { body: 7 }],
    { "csp-report": null },
    { body: { effectiveDirective: {} } },
  ]) {
    assert.deepEqual(readReports(junk), []);
  }
  const odd = { body: { effectiveDirective: secret, blockedURL: `${secret} ${secret}`, disposition: secret } };
  assert.deepEqual(readReports([odd]), [{ directive: "other", disposition: "enforce", blocked: "other" }]);
  assert.equal(readReports(Array.from({ length: 50 }, () => odd)).length, 10);
});

test.run();
