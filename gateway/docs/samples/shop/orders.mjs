// The shop's orders, in memory, and who watches them: each change goes to the open pages as a server-sent event. A shop
// of yours has a database here.
import { randomInt } from "node:crypto";

const ordersMax = 1_000; // the oldest are forgotten; Tollbooth still knows them
const heardMax = 50; // webhooks shown of one order
const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export class Orders {
  #orders = new Map();
  #pages = new Map();

  /** An order's number is also what opens its page, so that nobody can guess it: 60 bits. */
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
    const order = { reference, name, amount, currency, session, status: "open", heard: [] };
    const known = this.#orders.get(reference);
    if (known) return known;
    if (this.#orders.size >= ordersMax) this.#orders.delete(this.#orders.keys().next().value);
    this.#orders.set(reference, order);
    return order;
  }

  /** @returns whether it was not paid before: one payment is announced twice, and an order ships once */
  pay(order, payment) {
    const isNew = order.status !== "paid";
    this.change(order, { ...payment, status: "paid" });
    return isNew;
  }

  /** What is paid stays paid, whatever comes late. */
  change(order, news) {
    if (order.status !== "paid") Object.assign(order, news);
    this.#publish(order);
    return order;
  }

  /** Keeps a verified webhook for the page, which shows each delivery, once. */
  tell(order, { delivery, type, body }) {
    if (order.heard.some((known) => known.delivery === delivery)) return;
    order.heard = [...order.heard, { delivery, type, body, at: new Date().toISOString() }].slice(-heardMax);
    this.#publish(order);
  }

  /** Sends the order as it is now and after each change, until the page is closed. */
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

function eventOf({ status, heard, paymentId, card, receipt }) {
  return `data: ${JSON.stringify({ status, heard, paymentId, card, receipt })}\n\n`;
}
