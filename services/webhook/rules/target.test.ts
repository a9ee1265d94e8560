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

// Proves limits: url
test("accepts https only, on every host", () => {
  for (const url of [
    "http://example.com/",
    "ftp://example.com/",
    "//example.com",
    "example.com",
    "https:",
    "",
    "javascript:1",
  ]) {
    assert(problem(url), url);
  }
  assert.equal(problem("http://localhost/", ["127.0.0.0/8"]), "must be https");
  assert.equal(problem("https://example.com/hook?x=1"), undefined);
});

test("stores a URL normalized from every unusual spelling", () => {
  const href = (url: string) => {
    const target = parseTarget(url, []);
    return "problem" in target ? target.problem : target.href;
  };
  assert.equal(href("HTTPS://EXAMPLE.com:443/a/../b"), "https://example.com/b");
  assert.equal(href("https://exam\tple.com/\n"), "https://example.com/");
  assert.equal(href("https://example.com./x"), "https://example.com/x");
  assert.equal(href("https://ｅxample.com/"), "https://example.com/");
  assert.equal(href("https://bücher.example/"), "https://xn--bcher-kva.example/");
  assert.equal(href("https:\\\\example.com\\a"), "https://example.com/a");
});

test("refuses user names, passwords, fragments, long URLs and ports of internal services", () => {
  for (const url of [
    "https://a@example.com/",
    "https://a:b@example.com/",
    "https://:b@example.com/",
    "https://example.com/#a",
    "https://example.com/#",
    `https://example.com/${"a".repeat(2_040)}`,
    "https://example.com:0/",
    "https://example.com:22/",
    "https://example.com:25/",
    "https://example.com:5432/",
    "https://example.com:6379/",
  ]) {
    assert(problem(url), url);
  }
  assert.equal(problem(`https://example.com/${"a".repeat(2_000)}`), undefined);
  assert.equal(problem("https://example.com:8443/"), undefined);
});

test("refuses hosts that cannot be public names, unless the operator allows private ranges", () => {
  const inner = [
    "localhost",
    "a.localhost",
    "printer.local",
    "db.internal",
    "x.lan",
    "x.home.arpa",
    "api.svc",
    "intranet",
    "x.onion",
  ];
  for (const host of inner) {
    assert(problem(`https://${host}/`), host);
    assert.equal(problem(`https://${host}/`, ["127.0.0.0/8"]), undefined, host);
  }
  for (const host of [
    "example..com",
    ".example.com",
    "-a.com",
    "a-.com",
    `${"a".repeat(64)}.com`,
    "a b.com",
    "exa_mple!.com",
  ]) {
    assert(problem(`https://${host}/`), host);
  }
  for (const host of ["example.com", "a_b.example", "hooks.example.test", "xn--bcher-kva.example", "1password.com"]) {
    assert.equal(problem(`https://${host}/`), undefined, host);
  }
});

test("judges address literals in all their spellings", () => {
  for (const host of [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "[::1]",
    "[::ffff:8.8.8.8]",
    "169.254.169.254",
  ]) {
    assert(problem(`https://${host}/`), host);
  }
  assert.equal(problem("https://8.8.8.8/"), undefined);
  assert.equal(problem("https://[2606:4700::1111]/"), undefined);
  assert.equal(problem("https://127.1/", ["127.0.0.0/8"]), undefined);
});

test.run();
