// A shop in plain Node that uses the public API and the browser SDK. It ships on a verified webhook, never on the
// browser's report. `npm start` runs it with the local stack. By hand: BASE_URL=http://127.0.0.1:8080 API_KEY=sk_test_…
// PORT=3000 WEBHOOK_PORT=3443 TLS_CERT=.local/tls/localhost.pem TLS_KEY=.local/tls/localhost.key node server.mjs
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { isGenuine } from "../verify-webhook.mjs";
import { Orders } from "./orders.mjs";
import { failurePage, orderPage, productPage } from "./pages.mjs";

const { BASE_URL: api, API_KEY: key = "", PORT: port, WEBHOOK_PORT: webhookPort } = process.env;
if (!key.startsWith("sk_test_")) throw new Error("API_KEY must be a sandbox key");

const shop = `http://127.0.0.1:${port}`;
const product = { name: "The Lemon Cookbook", amount: 2400, currency: "USD" };
const bodyMaxBytes = 65_536; // deliveries and our forms have less than a kilobyte
const orders = new Orders();

/** Calls the public API. Throws on an error response. */
async function call(method, path, body, headers = {}) {
  const answer = await fetch(`${api}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(15_000),
  });
  const text = await answer.text();
  const result = text === "" ? {} : JSON.parse(text);
  if (!answer.ok) throw new Refusal(method, path, answer.status, result.error);
  return result;
}

/** An error response of the API; its message explains it to the shop's staff, not to buyers. */
class Refusal extends Error {
  constructor(method, path, status, { code, message } = {}) {
    super(`${method} ${path}: ${status} ${code}: ${message}`);
    this.status = status;
  }
}

const opening = new Map();
/** Returns the order with its session; concurrent clicks create one session. */
function openOrder(reference) {
  const order = opening.get(reference) ?? createSession(reference).finally(() => opening.delete(reference));
  opening.set(reference, order);
  return order;
}

/** The order number is the idempotency key, so any repeat gets the same session. */
async function createSession(reference) {
  const back = `${shop}/orders/${reference}`;
  const { name, amount, currency } = product;
  const fields = {
    amount,
    currency,
    description: `Order ${reference}`,
    line_items: [{ name, quantity: 1, amount }],
    reference,
    success_url: back,
    cancel_url: back,
    expires_in: 3600,
  };
  const session = await call("POST", "/v1/checkout-sessions", fields, { "idempotency-key": reference });
  return orders.add({ reference, ...product, session });
}

/** Restores an order from before a restart by its session. Undefined if there is no such session. */
async function recallOrder(reference) {
  const { data } = await call("GET", `/v1/checkout-sessions?reference=${reference}`);
  const [session] = data;
  if (!session) return undefined;
  const ended = { completed: "paid", expired: "expired", canceled: "canceled" }[session.status];
  if (!ended) return openOrder(reference);
  return orders.change(orders.add({ reference, ...product, session }), { status: ended });
}

/** The secret is returned only once and this shop does not store it, so each start registers a new endpoint. */
async function registerWebhooks() {
  const path = "/v1/merchants/me/webhooks";
  const description = "demo shop";
  const { data } = await call("GET", path);
  for (const old of data.filter((each) => each.description === description)) await call("DELETE", `${path}/${old.id}`);
  const events = ["payment.succeeded", "payment.failed", "checkout_session.expired", "checkout_session.canceled"];
  const endpoint = { url: `https://localhost:${webhookPort}/hook`, event_types: events, description };
  return (await call("POST", path, endpoint)).signing_secret;
}

let secret;
/** Registers the endpoint once; the next call retries a failure. */
function signingSecret() {
  secret ??= registerWebhooks().catch((error) => {
    secret = undefined;
    throw error;
  });
  return secret;
}

/** Verifies a webhook by its signature over the raw bytes. Any response but 2xx is retried. */
async function receiveWebhook(request) {
  const body = await bodyOf(request);
  if (!isGenuine(body, request.headers["service-signature"] ?? "", await signingSecret())) return 400;
  const event = JSON.parse(body);
  const order = event.session_id ? orders.ofSession(event.session_id) : await applyPayment(event);
  if (!order) return 200; // of another program
  const delivery = request.headers["service-delivery"];
  orders.recordWebhook(order, { delivery, type: event.type, body: body.toString() });
  if (event.type === "checkout_session.expired") orders.change(order, { status: "expired" });
  if (event.type === "checkout_session.canceled") orders.change(order, { status: "canceled" });
  return 200;
}

/** The event has no amount: read the payment for its order and check its amount. */
async function applyPayment({ payment_id: id }) {
  const payment = await call("GET", `/v1/payments/${id}`);
  const order = orders.get(payment.reference);
  if (!order) return undefined;
  const isFullAmount = payment.captured_amount === order.amount && payment.currency === order.currency;
  if (payment.status !== "succeeded" || !isFullAmount) return order;
  const { card, receipt_url: receipt } = payment;
  if (orders.pay(order, { paymentId: id, card, receipt })) console.log(`ships ${order.reference}`);
  return order;
}

const files = {
  "/style.css": "text/css; charset=utf-8",
  "/order.js": "text/javascript; charset=utf-8",
  "/cover.svg": "image/svg+xml",
};

/** Pages may load only our files, the SDK from Tollbooth and the card fields from the processor. */
function headersOf(order) {
  const frame = order ? new URL(order.session.render?.frame_url ?? api).origin : "'none'";
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": [
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      `script-src 'self' ${api}; connect-src 'self' ${api}; frame-src ${frame}`,
    ].join("; "),
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
  };
}

async function serve(request, response) {
  const url = new URL(request.url, shop);
  const [, folder, reference = "", action = ""] = url.pathname.split("/");
  const route = `${request.method} ${url.pathname}`;
  const send = (page, status = 200, order = undefined) => response.writeHead(status, headersOf(order)).end(page);
  if (route === "GET /") return send(productPage(product, orders.newReference()));
  if (request.method === "GET" && files[url.pathname]) {
    const file = readFileSync(new URL(`./public${url.pathname}`, import.meta.url));
    return response.writeHead(200, { "content-type": files[url.pathname], "cache-control": "no-cache" }).end(file);
  }
  // Refuses forms of other sites, which could order or cancel in the buyer's name.
  if (request.method === "POST" && (request.headers.origin ?? shop) !== shop)
    return send(failurePage("other_site"), 403);
  if (route === "POST /orders") {
    const requested = new URLSearchParams((await bodyOf(request)).toString()).get("order") ?? "";
    await signingSecret(); // a payment needs a webhook endpoint
    const chosen = orders.isReference(requested) ? requested : orders.newReference();
    if (!orders.get(chosen)) await openOrder(chosen);
    return response.writeHead(303, { location: `/orders/${chosen}` }).end();
  }
  const isOrder = folder === "orders" && orders.isReference(reference);
  const order = isOrder ? (orders.get(reference) ?? (await recallOrder(reference))) : undefined;
  if (!order) return send(failurePage("not_found"), 404);
  if (request.method === "GET" && action === "") return send(orderPage(order, api), 200, order);
  if (request.method === "GET" && action === "events") return orders.follow(order, response);
  if (request.method !== "POST" || action !== "cancel") return send(failurePage("not_found"), 404);
  await call("POST", `/v1/checkout-sessions/${order.session.id}/expire`);
  return response.writeHead(303, { location: `/orders/${reference}` }).end();
}

async function bodyOf(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    if ((size += chunk.length) > bodyMaxBytes) throw new Error("the body is too large");
  }
  return Buffer.concat(chunks);
}

const website = createServer((request, response) => {
  serve(request, response).catch((error) => {
    console.error(error);
    if (response.headersSent) return response.destroy();
    // 403: the merchant is suspended or closed, or the key lacks a scope.
    const isRefused = error instanceof Refusal && error.status === 403;
    response.writeHead(isRefused ? 503 : 502, headersOf()).end(failurePage(isRefused ? "closed" : "trouble"));
  });
});
const certificate = { cert: readFileSync(process.env.TLS_CERT), key: readFileSync(process.env.TLS_KEY) };
const webhooks = createTlsServer(certificate, (request, response) => {
  receiveWebhook(request).then(
    (status) => response.writeHead(status).end(),
    (error) => {
      console.error(error);
      response.writeHead(500).end();
    },
  );
});

await listen(webhooks, webhookPort);
await listen(website, port);
signingSecret().catch((error) => console.error(error));
console.log(`the shop is open at ${shop}`);
// Reports readiness to a supervisor and exits with it.
process.send?.({ ready: true });
process.on("disconnect", () => process.exit(0));

function listen(server, onPort) {
  return new Promise((resolve) => {
    server.once("error", ({ code, message }) => {
      const isTaken = code === "EADDRINUSE";
      console.error(isTaken ? `port ${onPort} is in use: another shop is running, or another program` : message);
      process.exit(1);
    });
    server.listen(Number(onPort), "127.0.0.1", resolve);
  });
}
