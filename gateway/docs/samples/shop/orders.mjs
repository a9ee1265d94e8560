// The shop's orders, in memory; a real shop uses a database. Sends each change to the open pages as a server-sent event.
import { randomInt } from "node:crypto";

const ordersMax = 1_000; // the oldest are dropped; Tollbooth still has them
const webhooksMax = 50; // shown per order
const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export class Orders {
  #orders = new Map();
  #pages = new Map();

  /** The number also opens the order's page, so it must be unguessable: 60 bits. */
  newReference() {
    return `LC-${Array.from({ length: 12 }, () => letters[randomInt(letters.length)]).join("")}`;
  }

  isReference(text) {
    return /^LC-[0-9A-HJKMNP-TV-Z]{12}$/.test(text);
  }

  get(reference) {
    return this.#orders.get(reference);
  }

  ofSession(id) {
    return [...this.#orders.values()].find(({ session }) => session.id === id);
  }

  add({ reference, name, amount, currency, session }) {
    const order = { reference, name, amount, currency, session, status: "open", webhooks: [] };
    const known = this.#orders.get(reference);
    if (known) return known;
    if (this.#orders.size >= ordersMax) this.#orders.delete(this.#orders.keys().next().value);
    this.#orders.set(reference, order);
    return order;
  }

  /** @returns true if the order was not paid before: a payment may be announced twice, but the order ships once */
  pay(order, payment) {
    const isNew = order.status !== "paid";
    this.change(order, { ...payment, status: "paid" });
    return isNew;
  }

  /** A paid order stays paid. */
  change(order, changes) {
    if (order.status !== "paid") Object.assign(order, changes);
    this.#publish(order);
    return order;
  }

  /** Records a verified webhook for the page, once per delivery. */
  recordWebhook(order, { delivery, type, body }) {
    if (order.webhooks.some((known) => known.delivery === delivery)) return;
    order.webhooks = [...order.webhooks, { delivery, type, body, at: new Date().toISOString() }].slice(-webhooksMax);
    this.#publish(order);
  }

  /** Sends the order now and after each change, until the page is closed. */
  follow(order, response) {
    const pages = this.#pages.get(order) ?? new Set();
    this.#pages.set(order, pages.add(response));
    response.on("close", () => pages.delete(response));
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(eventOf(order));
  }

  #publish(order) {
    for (const page of this.#pages.get(order) ?? []) page.write(eventOf(order));
  }
}

function eventOf({ status, webhooks, paymentId, card, receipt }) {
  return `data: ${JSON.stringify({ status, webhooks, paymentId, card, receipt })}\n\n`;
}
