import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventKeyLine } from "../../../deploy/cli/setup/identities.ts";
import { suite } from "../../../test/harness/suite.ts";
import { type EventKeys, eventKeysFile } from "./event-keys.ts";

const test = suite("event keys");
const folder = mkdtempSync(join(tmpdir(), "event-keys-"));
test.after(() => rmSync(folder, { recursive: true }));

const [subject, body] = ["tollbooth.events.payments.payment.succeeded", Buffer.from("an event")];
const [first, second, other] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
let files = 0;

function keysOf(...lines: string[]): EventKeys {
  const path = join(folder, `${++files}`);
  writeFileSync(path, lines.join("\n"));
  return eventKeysFile.parse(path);
}

const payments = keysOf(eventKeyLine("payments", first));
const mac = payments.macOf("payments", subject, body);

test("every holder of the source's key verifies its events", () => {
  const follower = keysOf("# of the webhook service", eventKeyLine("webhook", other), eventKeyLine("payments", first));
  assert.equal(follower.doubt("payments", subject, body, mac), undefined);
});

test("rejects a changed body or subject, another source's key, half a MAC and a missing MAC", () => {
  const doubts = [
    payments.doubt("payments", subject, Buffer.from("An event"), mac),
    payments.doubt("payments", subject.replace("succeeded", "failed"), body, mac),
    payments.doubt("payments", `${subject}\nan`, Buffer.from(" event"), mac),
    keysOf(eventKeyLine("payments", other)).doubt("payments", subject, body, mac),
    payments.doubt("payments", subject, body, mac.slice(0, 20)),
    payments.doubt("payments", subject, body, ""),
    payments.doubt("merchant", subject, body, mac),
  ];
  assert.deepEqual(doubts, [...Array(5).fill("wrong_mac"), "no_mac", "unknown_source"]);
});

test("accepts old and new keys during a change and signs with the first", () => {
  const between = keysOf(eventKeyLine("payments", second), eventKeyLine("payments", first));
  const after = keysOf(eventKeyLine("payments", second));
  assert.equal(between.doubt("payments", subject, body, mac), undefined);
  assert.equal(after.doubt("payments", subject, body, between.macOf("payments", subject, body)), undefined);
  assert.equal(after.doubt("payments", subject, body, mac), "wrong_mac");
});

test("`unsigned accepted` admits an event without a MAC, but not one with a wrong MAC", () => {
  const patient = keysOf("unsigned accepted", eventKeyLine("payments", first));
  assert.equal(patient.doubt("payments", subject, body, ""), undefined);
  assert.equal(patient.doubt("payments", subject, body, "AAAA"), "wrong_mac");
});

test("refuses to sign for a source without a key", () => {
  assert.throws(() => payments.macOf("merchant", subject, body), {
    message: "there is no key for the events of merchant",
  });
});

test("refuses an invalid file without repeating its content", () => {
  for (const text of [
    "",
    "payments base64:c2hvcnQ=",
    `unknown base64:${first.toString("base64")}`,
    "payments secret",
  ]) {
    assert.throws(
      () => keysOf(text),
      (error: Error) => /^must have /.test(error.message) && !/secret|c2hv/.test(error.message),
    );
  }
});

test.run();
