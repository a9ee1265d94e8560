// Mails name browsers from a fixed list, never with the browser's own text.
import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import { browserName } from "../rules/browser-name.ts";
import { mailTexts } from "./queue-mail.ts";

const test = suite("names of browsers");
const webkit = "AppleWebKit/605.1.15 (KHTML, like Gecko)";

test("names common browsers with their system", () => {
  for (const [agent, name] of [
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Windows"],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0 Safari/537.36 Edg/140.0`, "Edge, Windows"],
    [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Version/18.0 Safari/605.1.15`, "Safari, macOS"],
    [`Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${webkit} Version/18.0 Safari/604.1`, "Safari, iPhone"],
    [`Mozilla/5.0 (Linux; Android 15; Pixel 9) ${webkit} Chrome/140.0 Mobile Safari/537.36`, "Chrome, Android"],
    [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/140.0 Safari/537.36`, "Chrome, Linux"],
    ["curl/8.5.0", ""],
    ["", ""],
  ] as const)
    assert.equal(browserName(agent), name);
});

test("a mail contains no text from a browser's user agent", () => {
  const words = "Mozilla/5.0 (Your account is locked: https://evil.example/unlock) Chrome/140";
  for (const language of ["en", "de"] as const) {
    const mails = mailTexts(language);
    const facts = { link: "https://console.example/x", address: "192.0.2.1", agent: words };
    for (const mail of [mails.signInLink(facts), mails.newBrowser(facts), mails.signInMethodAdded(facts)]) {
      assert.doesNotMatch(JSON.stringify(mail), /evil|locked/);
      assert.match(JSON.stringify(mail), /Chrome/);
    }
  }
  fc.assert(fc.property(fc.string(), (agent) => /^[A-Za-z, ]{0,40}$/.test(browserName(agent))));
});

test.run();
