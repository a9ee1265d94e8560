// Pays a session with the request of the simulator's card form.  node pay-as-buyer.mjs session.json 4242424242424242
import { readFileSync } from "node:fs";

const [file, number = "4242424242424242"] = process.argv.slice(2);
if (!file) fail("usage: node pay-as-buyer.mjs <file with the response of POST /v1/checkout-sessions> [card number]");
const { render } = readSession();
if (!render?.frame_url) fail(`${file} is not an open session of the simulator`);
const form = new URL(render.frame_url);
const answer = await fetch(`${form.origin}${form.pathname}/pay`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    client_secret: render.client_secret,
    number,
    exp_month: 12,
    exp_year: new Date().getUTCFullYear() + 3,
    cvc: "123",
  }),
});
console.log(await answer.text());

function readSession() {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    return fail(`${file}: ${error.message}`);
  }
}

function fail(problem) {
  console.error(problem);
  process.exit(2);
}
