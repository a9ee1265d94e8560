// Registers a webhook endpoint and prints its signing secret. Run again, it finds the endpoint and rolls the secret, which
// is shown once; the old one signs for 24 more hours.  BASE=http://… KEY=sk_test_… node register-webhook.mjs <url> <event> …
const { BASE: base, KEY: key } = process.env;
const [url, ...events] = process.argv.slice(2);
if (!base || !key || !url || events.length === 0) {
  fail(
    "usage: BASE=http://127.0.0.1:8080 KEY=sk_test_… node register-webhook.mjs https://localhost:4443/hook payment.succeeded …",
  );
}

const path = "/v1/merchants/me/webhooks";
const known = (await call("GET", path)).data.find((endpoint) => endpoint.url === url);
if (known) await call("PATCH", `${path}/${known.id}`, { status: "active", event_types: events });
const { signing_secret: secret } = known
  ? await call("POST", `${path}/${known.id}/roll-secret`)
  : await call("POST", path, { url, event_types: events });
console.log(secret);

async function call(method, path, body) {
  const answer = await fetch(`${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((error) => fail(`${base} does not answer: ${error.cause?.message ?? error.message}`));
  const result = await answer.json();
  if (!answer.ok) fail(`${method} ${path}: ${result.error.message} ${JSON.stringify(result.error.details ?? "")}`);
  return result;
}

function fail(problem) {
  console.error(problem);
  process.exit(2);
}
