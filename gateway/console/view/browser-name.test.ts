import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { browserName } from "./browser-name.ts";

const test = suite("browser names");
const webKit = "AppleWebKit/537.36 (KHTML, like Gecko)";

test("a session's browser has the name that its person knows, whatever others it names", () => {
  const agents = {
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`]:
      "Edge, Windows",
    [`Mozilla/5.0 (X11; Linux x86_64) ${webKit} HeadlessChrome/140.0.0.0 Safari/537.36`]: "Chrome, Linux",
    [`Mozilla/5.0 (Linux; Android 15) ${webKit} Chrome/140.0.0.0 Mobile Safari/537.36`]: "Chrome, Android",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:141.0) Gecko/20100101 Firefox/141.0": "Firefox, macOS",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Safari/604.1": "Safari, iOS",
  };
  for (const [agent, name] of Object.entries(agents)) assert.is(browserName(agent), name, agent);
});

test("what names no browser is shown as it names itself", () => {
  assert.is(browserName("curl/8.5.0"), "curl/8.5.0");
  assert.is(browserName(""), "");
});

test.run();
