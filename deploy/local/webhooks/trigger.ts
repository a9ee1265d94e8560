// `npm run trigger -- payment.refunded`: produces a real event of this type on the running local stack. Creates a
// session, pays it in the processor's form as a buyer does, and continues until the payment has the event's state.
import { printHelpIfRequested, refuseUnknownArgument } from "../options.ts";
import { reasonOf, StartError } from "../start-error.ts";
import { asObject, listOf, openStack, type StackClient } from "./stack-client.ts";

/** Test cards of docs/contract.md §11. */
const cards = {
  succeeds: "4242424242424242",
  declined: "4000000000000002",
  disputed: "4000000000000259",
  asynchronous: "4000000000006108",
  inquired: "4000000000001976",
  refundFails: "4000000000005126",
  lapses: "4000000000006405",
} as const;
// A session is canceled after this number of declined attempts (docs/contract.md §4).
const attemptsMax = 10;
const amount = 1_050;
// A dispute opens a second after the payment and is reported a moment later.
const limitMs = 20_000;
const everyMs = 200;

/** Actions that produce each type; they return the result as text. */
const triggers: Readonly<Record<string, (stack: StackClient) => Promise<string>>> = {
  "payment.succeeded": (stack) => paid(stack, cards.succeeds, "succeeded"),
  "payment.failed": (stack) => paid(stack, cards.declined, "failed"),
  "payment.disputed": (stack) => paid(stack, cards.disputed, "disputed"),
  "payment.processing": (stack) => paid(stack, cards.asynchronous, "succeeded"),
  "payment.refunded": async (stack) => (await refunded(stack, cards.succeeds, "refunded")).payment,
  "dispute.created": (stack) => disputed(stack, cards.disputed, "needs_response"),
  "dispute.updated": (stack) => disputed(stack, cards.disputed, "under_review", "The goods were delivered."),
  "dispute.won": (stack) => disputed(stack, cards.disputed, "won", "winning_evidence"),
  "dispute.lost": (stack) => disputed(stack, cards.disputed, "lost", "losing_evidence"),
  "dispute.closed": (stack) => disputed(stack, cards.inquired, "warning_closed", "winning_evidence"),
  async "authorization.captured"(stack) {
    const paymentId = await authorized(stack, cards.succeeds);
    await stack.call("POST", `/v1/payments/${paymentId}/capture`, { amount: amount - 50 });
    return await reached(stack, "payments", paymentId, "succeeded");
  },
  async "authorization.canceled"(stack) {
    const paymentId = await authorized(stack, cards.succeeds);
    await stack.call("POST", `/v1/payments/${paymentId}/cancel`);
    return await reached(stack, "payments", paymentId, "canceled");
  },
  async "authorization.expired"(stack) {
    return await reached(stack, "payments", await authorized(stack, cards.lapses), "canceled");
  },
  "refund.succeeded": async (stack) => (await refunded(stack, cards.succeeds, "refunded")).refund,
  "refund.failed": async (stack) => (await refunded(stack, cards.refundFails, "succeeded")).refund,
  async "checkout_session.completed"(stack) {
    const { session } = await attempted(stack, cards.succeeds);
    return reached(stack, "checkout-sessions", String(session.id), "completed");
  },
  async "checkout_session.expired"(stack) {
    const { id } = await newSession(stack);
    await stack.call("POST", `/v1/checkout-sessions/${id}/expire`);
    return reached(stack, "checkout-sessions", String(id), "expired");
  },
  async "checkout_session.canceled"(stack) {
    const session = await newSession(stack);
    for (let i = 0; i < attemptsMax; i++) await payWith(session, cards.declined);
    return reached(stack, "checkout-sessions", String(session.id), "canceled");
  },
  async "report.ready"(stack) {
    const day = { from: "2025-11-01", to: "2025-11-02" };
    const { id } = await stack.call("POST", "/v1/reports", { type: "payments", ...day });
    return await reached(stack, "reports", String(id), "ready");
  },
  async "test.ping"(stack) {
    const path = "/v1/merchants/me/webhooks";
    const active = listOf(await stack.call("GET", path)).filter((endpoint) => endpoint.status === "active");
    if (active.length === 0) throw new StartError("there is no active webhook endpoint: run npm run listen first");
    for (const { id } of active) await stack.call("POST", `${path}/${id}/test`);
    return `sent to ${active.map(({ id }) => id).join(", ")}`;
  },
};

type Session = Awaited<ReturnType<StackClient["call"]>>;

async function newSession(stack: StackClient, members: object = {}): Promise<Session> {
  const description = "npm run trigger";
  return await stack.call("POST", "/v1/checkout-sessions", { amount, currency: "USD", description, ...members });
}

/** Submits the card in the processor's form. */
async function payWith(session: Session, card: string): Promise<void> {
  const form = new URL(String(asObject(session.render).frame_url));
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
}

/** Creates a session, pays it with the card and confirms it. */
async function attempted(
  stack: StackClient,
  card: string,
  members: object = {},
): Promise<{ session: Session; paymentId: string }> {
  const session = await newSession(stack, members);
  await payWith(session, card);
  const secret = encodeURIComponent(String(session.session_secret));
  const confirmed = await stack.call("POST", `/v1/checkout/${session.id}/confirm?secret=${secret}`);
  return { session, paymentId: String(confirmed.payment_id) };
}

/** As `attempted`, with manual capture. @returns the payment's id */
async function authorized(stack: StackClient, card: string): Promise<string> {
  return (await attempted(stack, card, { capture_method: "manual" })).paymentId;
}

/** As `attempted`, and waits until the payment has the status. */
async function paid(stack: StackClient, card: string, status: string): Promise<string> {
  const { paymentId } = await attempted(stack, card);
  return await reached(stack, "payments", paymentId, status);
}

/** Pays with the card and refunds the whole amount. @param status final status of the payment */
async function refunded(stack: StackClient, card: string, status: string) {
  const { paymentId } = await attempted(stack, card);
  await reached(stack, "payments", paymentId, "succeeded");
  const { id } = await stack.call("POST", `/v1/payments/${paymentId}/refunds`);
  const ended = status === "refunded" ? "succeeded" : "failed";
  const refund = await reached(stack, "refunds", String(id), ended);
  return { refund, payment: await reached(stack, "payments", paymentId, status) };
}

/** Pays with the card, waits for the dispute, and answers it with the text if there is one. */
async function disputed(stack: StackClient, card: string, status: string, evidence?: string): Promise<string> {
  const { paymentId } = await attempted(stack, card);
  const path = `/v1/disputes?payment_id=${paymentId}`;
  const [dispute] = await until(`${paymentId} is not disputed`, async () => listOf(await stack.call("GET", path)));
  const id = String(dispute?.id);
  if (evidence) await stack.call("POST", `/v1/disputes/${id}/evidence`, { uncategorized_text: evidence });
  return await reached(stack, "disputes", id, status);
}

/** Waits until the object has the status. */
async function reached(stack: StackClient, list: string, id: string, status: string): Promise<string> {
  const isReached = async () => (await stack.call("GET", `/v1/${list}/${id}`)).status === status;
  await until(`${id} is not ${status}`, async () => ((await isReached()) ? [id] : []));
  return `${id} is ${status}`;
}

/** Waits until there is something. @param problem the message if there is not */
async function until<T>(problem: string, find: () => Promise<T[]>): Promise<T[]> {
  for (const end = performance.now() + limitMs; performance.now() < end; ) {
    const found = await find();
    if (found.length > 0) return found;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new StartError(`${problem} after ${limitMs / 1_000} s`);
}

const usage = `npm run trigger -- <type>

Triggers a real event of this type on the running local stack of STATE_DIR (.local): ${Object.keys(triggers).join(", ")}.`;

printHelpIfRequested(usage);
try {
  const [type = ""] = process.argv.slice(2);
  const act = Object.hasOwn(triggers, type) ? triggers[type] : undefined;
  if (!act) refuseUnknownArgument(type, Object.keys(triggers), "type", usage);
  console.log(`${type}: ${await act(await openStack(process.env))}`);
} catch (error) {
  console.error(error instanceof StartError ? error.message : reasonOf(error));
  process.exit(1);
}
process.exit(0);
