import * as assert from "uvu/assert";
import { suite } from "../../test/harness/suite.ts";
import { readConfig } from "./config.ts";

const test = suite("simulator config");
const good = {
  PORT: "4100",
  DATABASE_URL: "postgres://u:p@127.0.0.1/simulator",
  PUBLIC_URL: "http://127.0.0.1:4100/",
  SIMULATOR_SECRET_KEY: "0123456789abcdef",
  SIMULATOR_WEBHOOK_SECRET: "fedcba9876543210",
  SIMULATOR_WEBHOOK_URL: "http://127.0.0.1:4000/processors/simulator/{account}",
};
const problemsOf = (env: Record<string, string>) => {
  try {
    readConfig(env);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
};

test("has defaults, and no test controls in production", () => {
  const config = readConfig(good);
  assert.equal([config.host, config.logLevel, config.delayMs, config.testControls], ["127.0.0.1", "info", 1_000, true]);
  assert.is(config.keySeconds, 86_400);
  assert.is(readConfig({ ...good, SIMULATOR_KEY_SECONDS: "60" }).keySeconds, 60);
  assert.is(config.publicUrl, "http://127.0.0.1:4100");
  assert.is(readConfig({ ...good, NODE_ENV: "production" }).testControls, false);
});

test("refuses test controls in production", () => {
  const controlled = { ...good, SIMULATOR_TEST_CONTROLS: "on" };
  assert.is(readConfig({ ...controlled, NODE_ENV: "test" }).testControls, true);
  assert.match(problemsOf({ ...controlled, NODE_ENV: "production" }), "SIMULATOR_TEST_CONTROLS must not be on");
});

test("reports all missing settings together", () => {
  for (const name of Object.keys(good)) assert.match(problemsOf({}), name);
});

test("reports malformed settings without repeating secrets", () => {
  const wrong = {
    PORT: "70000",
    DATABASE_URL: "mysql://x",
    PUBLIC_URL: "http://127.0.0.1/path",
    SIMULATOR_SECRET_KEY: "tooshort",
    SIMULATOR_WEBHOOK_URL: "http://127.0.0.1/no-account",
    SIMULATOR_DELAY_MS: "soon",
    SIMULATOR_KEY_SECONDS: "0",
    LOG_LEVEL: "loud",
  };
  const problems = problemsOf({ ...good, ...wrong });
  assert.equal(
    problems
      .split("\n")
      .map((line) => line.split(" ")[0])
      .sort(),
    Object.keys(wrong).sort(),
  );
  assert.not.match(problems, "tooshort");
});

test.run();
