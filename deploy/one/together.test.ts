import * as assert from "uvu/assert";
import { suite } from "../../test/harness/suite.ts";
import { programEnvironment } from "./together.ts";

const test = suite("parts of a process");

test("a program gets the shared settings and its own, and no other program's", () => {
  const env = {
    LOG_LEVEL: "warn",
    PORT: "1",
    CHECKOUT__PORT: "2",
    OPERATORS_CONSOLE__PORT: "3",
    PAYMENTS__SECRET: "x",
  };
  assert.equal(programEnvironment("checkout", env), { LOG_LEVEL: "warn", PORT: "2" });
  assert.equal(programEnvironment("operators-console", env), { LOG_LEVEL: "warn", PORT: "3" });
  assert.equal(programEnvironment("gateway", env), { LOG_LEVEL: "warn", PORT: "1" });
});

test("a setting that starts with a service's name is shared", () => {
  const env = { CHECKOUT_ORIGIN: "http://localhost:1", CHECKOUT_URL: "http://checkout:1" };
  assert.equal(programEnvironment("checkout", env), env);
});

test("a program's value overrides a shared file, and its file a shared value", () => {
  const env = { HASH_KEY_FILE: "/all", PAYMENTS__HASH_KEY: "own", TOKEN: "all", PAYMENTS__TOKEN_FILE: "/own" };
  assert.equal(programEnvironment("payments", env), { HASH_KEY: "own", TOKEN_FILE: "/own" });
  assert.equal(programEnvironment("merchant", env), { HASH_KEY_FILE: "/all", TOKEN: "all" });
});

test.run();
