import assert from "node:assert/strict";
import { encryptionKeys, hashKeys } from "#platform/secrets/key-ring.ts";
import { suite } from "../../../test/harness/suite.ts";
import { ConfigError, integerSetting, oneOf, optionalSetting, readConfig, urlSetting, withDefault } from "./config.ts";

const test = suite("settings");
const settings = {
  PORT: integerSetting(1, 65_535),
  DATABASE_URL: urlSetting("postgres"),
  HASH_KEY: hashKeys,
  ENCRYPTION_KEYS: encryptionKeys,
  MODE: withDefault(oneOf("on", "off"), "on"),
  EXTRA: optionalSetting(integerSetting(0, 9)),
} as const;
const [key, other] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString("base64"));
const good = {
  PORT: "80",
  DATABASE_URL: "postgres://u:p@h/d/",
  HASH_KEY: key,
  ENCRYPTION_KEYS: `k2:${key},k1:${other}`,
};

test("returns typed settings with defaults and absent optional ones", () => {
  const config = readConfig(settings, good);
  assert.equal(config.PORT, 80);
  assert.equal(config.DATABASE_URL, "postgres://u:p@h/d");
  assert.equal(config.MODE, "on");
  assert.equal(config.EXTRA, undefined);
  assert.deepEqual([...config.ENCRYPTION_KEYS.keys()], ["k2", "k1"]);
});

test("names all missing and malformed settings together", () => {
  const wrong = { PORT: "99999", HASH_KEY: "c2hvcnQ=", ENCRYPTION_KEYS: "k1:abc", MODE: "maybe", EXTRA: "1.5" };
  assert.throws(
    () => readConfig(settings, wrong),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      for (const name of ["PORT", "DATABASE_URL is missing", "HASH_KEY", "ENCRYPTION_KEYS", "MODE", "EXTRA"]) {
        assert.ok(error.message.includes(name), name);
      }
      return true;
    },
  );
});

test("never repeats a value in the message", () => {
  const secrets = { ...good, HASH_KEY: "sesame", ENCRYPTION_KEYS: "open:sesame", DATABASE_URL: "mysql://u:sesame@h" };
  assert.throws(
    () => readConfig(settings, secrets),
    (error: unknown) => error instanceof ConfigError && !error.message.includes("sesame"),
  );
});

test.run();
