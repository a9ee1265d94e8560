// `npm run trigger -- payment.refunded`: makes the event of this type really happen on the running local stack: creates
// a session, pays it at the processor's form as a buyer does, and goes on from there until the payment is in the
// event's state.
import { helpIfAsked, refuseWords } from "./options.ts";
import { listOf, object, openStack, type StackClient } from "./stack-client.ts";
import { reasonOf, StartError } from "./start-error.ts";

/** Test cards of docs/contract.md §11. */
const cards = { succeeds: "4242424242424242", declined: "4000000000000002", disputed: "4000000000000259" } as const;
const amount = 1_050;
// A dispute opens a second after the payment, and its news travels a moment.
const limitMs = 20_000;
const everyMs = 200;

/** What makes each type happen; answers what has happened. */
const triggers: Readonly<Record<string, (stack: StackClient) => Promise<string>>> = {
  "payment.succeeded": async (stack) => reached(stack, await paid(stack, cards.succeeds), "succeeded"),
  "payment.failed": async (stack) => reached(stack, await paid(stack, cards.declined), "failed"),
  "payment.disputed": async (stack) => reached(stack, await paid(stack, cards.disputed), "disputed"),
  async "payment.refunded"(stack) {
    const id = await paid(stack, cards.succeeds);
    await reached(stack, id, "succeeded");
    await stack.call("POST", `/v1/payments/${id}/refunds`);
    return reached(stack, id, "refunded");
  },
  async "test.ping"(stack) {
    const path = "/v1/merchants/me/webhooks";
    const active = listOf(await stack.call("GET", path)).filter((endpoint) => endpoint.status === "active");
    if (active.length === 0) throw new StartError("there is no active webhook endpoint: run npm run listen first");
    for (const { id } of active) await stack.call("POST", `${path}/${id}/test`);
    return `sent to ${active.map(({ id }) => id).join(", ")}`;
  },
};

/** Creates a session, pays it with the card and confirms it. @returns the payment's id */
async function paid(stack: StackClient, card: string): Promise<string> {
  const description = "npm run trigger";
  const session = await stack.call("POST", "/v1/checkout-sessions", { amount, currency: "USD", description });
  const form = new URL(String(object(session.render).frame_url));
  const answer = await fetch(`${form.origin}${form.pathname}/pay`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_secret: decodeURIComponent(form.hash.slice(1)),
      number: card,
      exp_month: 12,
      exp_year: new Date().getUTCFullYear() + 3,
      cvc: "123",
    }),
  });
  if (!answer.ok) throw new StartError(`the card form answered ${answer.status}: ${await answer.text()}`);
  const secret = encodeURIComponent(String(session.session_secret));
  const confirmed = await stack.call("POST", `/v1/checkout/${session.id}/confirm?secret=${secret}`);
  return String(confirmed.payment_id);
}

/** Waits until the payment has the status. */
async function reached(stack: StackClient, id: string, status: string): Promise<string> {
  let last = "";
  for (const end = performance.now() + limitMs; performance.now() < end; ) {
    last = String((await stack.call("GET", `/v1/payments/${id}`)).status);
    if (last === status) return `${id} is ${status}`;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new StartError(`${id} is ${last} after ${limitMs / 1_000} s, not ${status}`);
}

const usage = `npm run trigger -- <type>

Makes the event of this type really happen on the running local stack of STATE_DIR (.local): ${Object.keys(triggers).join(", ")}.`;

helpIfAsked(usage);
try {
  const [type = ""] = process.argv.slice(2);
  const act = Object.hasOwn(triggers, type) ? triggers[type] : undefined;
  if (!act) refuseWords(usage);
  console.log(`${type}: ${await act(await openStack(process.env))}`);
} catch (error) {
  console.error(error instanceof StartError ? error.message : reasonOf(error));
  process.exit(1);
}
process.exit(0);
