// An example shop: its page embeds the SDK under a strict policy, its backend creates the session, and it ships an
// order on the signed webhook.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import type { StackInfo } from "../../../deploy/local/stack-file.ts";
import type { TestMerchant } from "../../harness/merchant.ts";
import { isSignedWith, startReceiver } from "../../harness/receiver.ts";

export interface Shop {
  readonly url: string;
  /** Payment ids of shipped orders. */
  readonly shipped: ReadonlySet<string>;
  /** `session_secret` of the orders, newest last. */
  readonly secrets: readonly string[];
  close(): Promise<void>;
}

/** @param more further script origins of the shop's policy */
export async function startShop(stack: StackInfo, merchant: TestMerchant, more: readonly string[] = []): Promise<Shop> {
  const secrets: string[] = [];
  const webhooks = await receiveWebhooks(stack, merchant);
  const policy = [
    "default-src 'none'",
    "img-src data:",
    `script-src 'self' ${[stack.gateway, ...more].join(" ")}`,
    `connect-src 'self' ${stack.gateway}`,
    `frame-src ${stack.processor}`,
  ].join("; ");
  const script = readFileSync(join(import.meta.dirname, "page.js"), "utf8");
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://shop");
    // Further policies of a test's page, enforced and report-only.
    const policies = [policy, ...searchParams.getAll("refuses")].join(", ");
    const reported = searchParams.getAll("reports").join(", ");
    if (pathname === "/orders") {
      const order = { amount: 2_499, currency: "EUR", description: "Three lemons" };
      const session = (await merchant.api.post("/v1/checkout-sessions", order)).expect(201);
      secrets.push(session.text("session_secret"));
      response.setHeader("content-type", "application/json").end(JSON.stringify({ session_secret: secrets.at(-1) }));
    } else if (pathname === "/page.js") response.setHeader("content-type", "text/javascript").end(script);
    else {
      response.setHeader("content-security-policy", policies);
      response
        .setHeader("content-security-policy-report-only", reported)
        .setHeader("content-type", "text/html; charset=utf-8");
      response.end(pathname === "/bare" ? barePage(stack.gateway) : shopPage(stack.gateway));
    }
  };
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://localhost:${typeof address === "object" && address ? address.port : 0}`,
    shipped: webhooks.shipped,
    secrets,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      await webhooks.close();
    },
  };
}

async function receiveWebhooks(stack: StackInfo, merchant: TestMerchant) {
  const shipped = new Set<string>();
  const receiver = await startReceiver(stack.tls);
  const endpoint = { url: `${receiver.url}/hook`, event_types: ["payment.succeeded"] };
  const secret = (await merchant.api.post("/v1/merchants/me/webhooks", endpoint)).expect(201).text("signing_secret");
  receiver.answer((request) => {
    if (!isSignedWith(request, secret)) return { status: 400 };
    const { type, payment_id: paymentId } = JSON.parse(request.body.toString());
    if (type === "payment.succeeded") shipped.add(paymentId);
    return { status: 200 };
  });
  return { shipped, close: () => receiver.close() };
}

function shopPage(gateway: string): string {
  return `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><h1>Three lemons</h1><div id="card"></div>
<button id="pay" disabled>Pay</button><p id="status" role="status"></p>
<script src="${gateway}/js/v1/checkout.js"></script><script type="module" src="/page.js"></script></html>`;
}

/** The SDK and two places, for tests that drive it themselves. */
function barePage(gateway: string): string {
  return `<!doctype html><html lang="en"><title>Bare</title><link rel="icon" href="data:,"><div id="one"></div><div id="two"></div>
<script src="${gateway}/js/v1/checkout.js"></script></html>`;
}
