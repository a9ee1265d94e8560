// A merchant's webhook endpoint in plain Node: verifies each signature over the raw bytes and fulfils each paid order once.
// Uses the local stack's certificate, which its deliveries trust.  SIGNING_SECRET=whsec_… node receive-webhooks.mjs [port]
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { isGenuine } from "./verify-webhook.mjs";

const port = Number(process.argv[2] ?? 4443);
const secret = process.env.SIGNING_SECRET ?? "";
if (!secret.startsWith("whsec_")) {
  console.error("SIGNING_SECRET must be the endpoint's signing secret, whsec_…: see register-webhook.mjs");
  process.exit(2);
}
const stateDir = process.env.STATE_DIR ?? ".local";
const { tls } = JSON.parse(readFileSync(`${stateDir}/stack.json`, "utf8"));
const fulfilled = new Set(); // in your shop a table with a unique payment_id, which survives a restart

/** A payment may be announced twice, by the confirm and by the processor, and each delivery may be repeated. */
function fulfilOnce({ type, payment_id: id }) {
  if (type !== "payment.succeeded" || fulfilled.has(id)) return;
  fulfilled.add(id);
  console.log(`fulfilled: ${id}`);
}

createServer({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, (request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const genuine = isGenuine(body, String(request.headers["service-signature"] ?? ""), secret);
    console.log(`${body} ${genuine ? "signature ok" : "SIGNATURE WRONG"}`);
    if (genuine) fulfilOnce(JSON.parse(body));
    response.writeHead(genuine ? 200 : 400).end();
  });
})
  .on("error", ({ code, message }) => {
    const isTaken = code === "EADDRINUSE";
    console.error(isTaken ? `port ${port} is in use: another receiver is running` : message);
    process.exitCode = 1;
  })
  .listen(port, "127.0.0.1", () => console.log(`waiting for webhooks on https://localhost:${port}/hook`));
