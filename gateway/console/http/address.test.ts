import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { localPath } from "./address.ts";

const test = suite("local path");

test("keeps a local path with its query", () => {
  for (const path of ["/", "/mer_1/sandbox/payments?q=a%20b", "/account"]) assert.is(localPath(path), path);
});

test("replaces a path that could lead to another host", () => {
  const elsewhere = [
    "",
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/a\\b",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/%09\u0000",
    "javascript:alert(1)",
    " /account",
    `/${"a".repeat(2_000)}`,
  ];
  for (const path of elsewhere) assert.is(localPath(path), "/", path);
});

test.run();
