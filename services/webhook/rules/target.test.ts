// Which webhook URLs are accepted.
import assert from "node:assert/strict";
import { parseCidr } from "#platform/values/address-range.ts";
import { suite } from "../../../test/harness/suite.ts";
import { parseTarget } from "./target.ts";

const test = suite("target");
const problem = (url: string, ranges: string[] = []) => {
  const target = parseTarget(url, ranges.map(parseCidr));
  return "problem" in target ? target.problem : undefined;
};

const listed = (text: string) => text.trim().split(/\s+/);

// Proves limits: url
test("accepts https only, on every host", () => {
  for (const url of [
    "",
    ...listed("http://example.com/ ftp://example.com/ //example.com example.com https: javascript:1"),
  ]) {
    assert(problem(url), url);
  }
  assert.equal(problem("http://localhost/", ["127.0.0.0/8"]), "must be https");
  assert.equal(problem("https://example.com/hook?x=1"), undefined);
});

test("stores a URL normalized from every unusual spelling", () => {
  const spellings = [
    ["HTTPS://EXAMPLE.com:443/a/../b", "https://example.com/b"],
    ["https://exam\tple.com/\n", "https://example.com/"],
    ["https://example.com./x", "https://example.com/x"],
    ["https://ｅxample.com/", "https://example.com/"],
    ["https://bücher.example/", "https://xn--bcher-kva.example/"],
    ["https:\\\\example.com\\a", "https://example.com/a"],
  ] as const;
  for (const [spelling, normalized] of spellings) {
    const target = parseTarget(spelling, []);
    assert.equal("problem" in target ? target.problem : target.href, normalized);
  }
});

test("refuses user names, passwords, fragments, long URLs and ports of internal services", () => {
  const refused = `
    https://a@example.com/ https://a:b@example.com/ https://:b@example.com/ https://example.com/#a https://example.com/#
    https://example.com/${"a".repeat(2_040)} https://example.com:0/ https://example.com:22/ https://example.com:25/
    https://example.com:5432/ https://example.com:6379/`;
  for (const url of listed(refused)) assert(problem(url), url);
  assert.equal(problem(`https://example.com/${"a".repeat(2_000)}`), undefined);
  assert.equal(problem("https://example.com:8443/"), undefined);
});

test("refuses hosts that cannot be public names, unless the operator allows private ranges", () => {
  const inner = "localhost a.localhost printer.local db.internal x.lan x.home.arpa api.svc intranet x.onion";
  for (const host of listed(inner)) {
    assert(problem(`https://${host}/`), host);
    assert.equal(problem(`https://${host}/`, ["127.0.0.0/8"]), undefined, host);
  }
  const malformed = [
    "a b.com",
    ...listed(`example..com .example.com -a.com a-.com ${"a".repeat(64)}.com exa_mple!.com`),
  ];
  for (const host of malformed) assert(problem(`https://${host}/`), host);
  const names = "example.com a_b.example hooks.example.test xn--bcher-kva.example 1password.com";
  for (const host of listed(names)) assert.equal(problem(`https://${host}/`), undefined, host);
});

test("judges address literals in all their spellings", () => {
  const inner = "127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 [::1] [::ffff:8.8.8.8] 169.254.169.254";
  for (const host of listed(inner)) assert(problem(`https://${host}/`), host);
  assert.equal(problem("https://8.8.8.8/"), undefined);
  assert.equal(problem("https://[2606:4700::1111]/"), undefined);
  assert.equal(problem("https://127.1/", ["127.0.0.0/8"]), undefined);
});

test.run();
