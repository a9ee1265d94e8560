// Valid values for console origins, the mail sender and the token issuer.
import * as assert from "uvu/assert";
import { parseConfig } from "#platform/process/config.ts";
import { suite } from "../../test/harness/suite.ts";
import { peopleSettings } from "./settings.ts";

const test = suite("settings of people");

function assertAcceptsOnly(
  name: keyof typeof peopleSettings,
  accepted: readonly string[],
  refused: readonly string[],
): void {
  const isAccepted = (value: string) => parseConfig(peopleSettings, { [name]: value }).problems.length === 0;
  assert.equal([...accepted, ...refused].filter(isAccepted), accepted);
}

test("all of them are optional", () => {
  assert.equal(parseConfig(peopleSettings, {}).problems, []);
});

test("a sender is one address with an optional name, and cannot inject mail headers", () => {
  const accepted = ["a@shop.example", "Tollbooth <a@shop.example>"];
  const several = "A <a@shop.example>, B <b@shop.example>";
  const broken = ['A" <a@shop.example>', "A\r\nBcc: x <a@shop.example>", "<a@shop.example"];
  assertAcceptsOnly("MAIL_FROM", accepted, ["a@localhost", "localhost", several, ...broken]);
});

test("a console's origin is https with a host name or http on localhost, since passkeys need a host name", () => {
  const accepted = ["https://console.shop.example", "https://console.shop.example:8443", "http://localhost:8090"];
  assertAcceptsOnly("CONSOLE_ORIGIN", accepted, [
    "http://console.shop.example",
    "http://127.0.0.1:8090",
    "https://192.0.2.1",
    "https://[2001:db8::1]",
    "https://console.shop.example/console",
    "https://user@console.shop.example",
    "javascript:alert(1)",
  ]);
});

test("an issuer is https without a query or http on this machine, and a mail server's URL is smtp or smtps", () => {
  const accepted = ["https://accounts.shop.example/realms/one", "http://127.0.0.1:9000"];
  assertAcceptsOnly("OIDC_ISSUER", accepted, [
    "http://accounts.shop.example",
    "https://accounts.shop.example?a=b",
    "accounts",
  ]);
  assertAcceptsOnly(
    "SMTP_URL",
    ["smtp://mail.shop.example:587", "smtps://mail.shop.example"],
    ["http://mail.shop.example", "mail"],
  );
});

test.run();
