// Asks Stripe for all that it knows about one of our intents, and looks for what we made by our reference.
import type Stripe from "stripe";
import type { Account, Answer, IntentSearch, StatementPage, StatementPeriod } from "./connector.ts";
import { asked } from "./stripe-client.ts";
import { metadataNames, type StripeIntent } from "./stripe-objects.ts";
import { readStatementPage } from "./stripe-statement.ts";

const pageMax = 100; // of Stripe's lists
// An order whose answer was lost is looked for among the newest this many. Lists are exact; Stripe's search lags behind.
const searchedMax = 1_000;
// A payment has far fewer refunds; more are not counted, and then nothing is concluded.
const refundsMax = 1_000;
// A search begins this long before the time that Stripe itself had told.
const marginSeconds = 2 * 86_400;

/** True for the id of a Checkout Session, which we keep as the intent's reference when Stripe's own page is used. */
export function isSession(ref: string): boolean {
  return ref.startsWith("cs_");
}

export class StripeReader {
  readonly #sdk: Stripe;
  readonly #timeoutMs: number;
  readonly #time: () => Date | undefined;

  /** @param time Stripe's clock, as it last told it. */
  constructor(sdk: Stripe, timeoutMs: number, time: () => Date | undefined) {
    this.#time = time;
    this.#sdk = sdk;
    this.#timeoutMs = timeoutMs;
  }

  /** @param ref of a PaymentIntent or a Checkout Session, whichever of the two it was made as. */
  async read(account: Account, ref: string): Promise<Answer<StripeIntent>> {
    const call = this.#call(account);
    return await asked(isSession(ref) ? this.#readSession(call, ref) : this.#readIntent(call, ref));
  }

  /** What was made under our reference. Absent only if Stripe's whole list of the time in question does not hold it. */
  async find(account: Account, { reference, surface, since }: IntentSearch): Promise<Answer<StripeIntent>> {
    const call = this.#call(account);
    const from = since && { created: { gte: Math.floor(since.getTime() / 1_000) - marginSeconds } };
    const newest = { ...from, limit: pageMax };
    if (surface === "redirect") {
      const page = await asked(firstOurs(this.#sdk.checkout.sessions.list(newest, call), reference));
      if (page.kind !== "succeeded") return inDoubt(page);
      if (page.value.found !== undefined) return await this.read(account, page.value.found);
      if (!page.value.whole) return inDoubt(undefined);
      // A payment by token has no page, whatever surface the account has for buyers.
    }
    const listed = await asked(firstOurs(this.#sdk.paymentIntents.list(newest, call), reference));
    if (listed.kind !== "succeeded") return inDoubt(listed);
    if (listed.value.found !== undefined) return await this.read(account, listed.value.found);
    if (listed.value.whole) {
      return { kind: "not_found", at: this.#time(), cause: new Error("Stripe has nothing under this reference") };
    }
    const query = `metadata['${metadataNames.payment}']:'${reference}'`;
    const hits = await asked(this.#sdk.paymentIntents.search({ query, limit: 1 }, call));
    const [hit] = hits.kind === "succeeded" ? hits.value.data : [];
    return hit ? await this.read(account, hit.id) : inDoubt(hits);
  }

  /** The PaymentIntent's id; absent: the buyer has not begun to pay on Stripe's page, so there is none. */
  async intentId(account: Account, ref: string): Promise<Answer<string>> {
    if (!isSession(ref)) return { kind: "succeeded", value: ref };
    const session = await asked(this.#sdk.checkout.sessions.retrieve(ref, {}, this.#call(account)));
    if (session.kind !== "succeeded") return inDoubt(session);
    const id = idOf(session.value.payment_intent);
    if (id) return { kind: "succeeded", value: id };
    return { kind: "not_found", at: this.#time(), cause: new Error("the page made no intent yet") };
  }

  /** A page of what moved money in the period. */
  async statement(account: Account, period: StatementPeriod, after: string): Promise<Answer<StatementPage>> {
    return await asked(readStatementPage(this.#sdk, this.#call(account), period, after));
  }

  /** All refunds of a PaymentIntent. */
  async refunds(account: Account, intentId: string): Promise<Answer<readonly Stripe.Refund[]>> {
    return await asked(this.#listRefunds(this.#call(account), intentId));
  }

  async #readSession(call: Stripe.RequestOptions, ref: string): Promise<StripeIntent> {
    const session = await this.#sdk.checkout.sessions.retrieve(ref, {}, call);
    const id = idOf(session.payment_intent);
    if (!id) return { ref, session, intent: undefined, charges: [], refunds: [], disputes: [] };
    return { ...(await this.#gather(call, id)), ref, session };
  }

  async #readIntent(call: Stripe.RequestOptions, ref: string): Promise<StripeIntent> {
    const gathered = await this.#gather(call, ref);
    if (gathered.intent.metadata[metadataNames.page] === undefined) return { ...gathered, ref, session: undefined };
    const { data } = await this.#sdk.checkout.sessions.list({ payment_intent: ref, limit: 1 }, call);
    const [session] = data;
    if (!session) throw new Error("a PaymentIntent of Stripe's page without its session");
    return { ...gathered, ref: session.id, session };
  }

  async #gather(call: Stripe.RequestOptions, id: string) {
    const expand = ["payment_method", "latest_charge.refunds"];
    // More charges than a page are not possible: a session ends after its tenth attempt.
    const [intent, listed] = await Promise.all([
      this.#sdk.paymentIntents.retrieve(id, { expand }, call),
      this.#sdk.charges.list({ payment_intent: id, limit: pageMax }, call),
    ]);
    // The list may be a moment older than the intent.
    const latest = typeof intent.latest_charge === "object" ? intent.latest_charge : null;
    const charges = [...(latest ? [latest] : []), ...listed.data.filter((charge) => charge.id !== latest?.id)];
    const [refunds, disputes] = await Promise.all([
      latest?.refunds?.has_more ? this.#listRefunds(call, id) : (latest?.refunds?.data ?? []),
      charges.some((charge) => charge.disputed) ? this.#listDisputes(call, id) : [],
    ]);
    return { intent, charges, refunds, disputes };
  }

  async #listRefunds(call: Stripe.RequestOptions, id: string): Promise<readonly Stripe.Refund[]> {
    const list = this.#sdk.refunds.list({ payment_intent: id, limit: pageMax }, call);
    const refunds = await list.autoPagingToArray({ limit: refundsMax });
    if (refunds.length === refundsMax) throw new Error(`a payment with ${refundsMax} refunds or more`);
    return refunds;
  }

  async #listDisputes(call: Stripe.RequestOptions, id: string): Promise<readonly Stripe.Dispute[]> {
    return (await this.#sdk.disputes.list({ payment_intent: id, limit: pageMax }, call)).data;
  }

  /** All calls under one of these share the time limit. */
  #call({ credentials }: Account): Stripe.RequestOptions {
    const end = performance.now() + this.#timeoutMs;
    return {
      apiKey: credentials.secret_key ?? "",
      get timeout() {
        return Math.max(1, Math.ceil(end - performance.now()));
      },
    };
  }
}

async function firstOurs(
  list: AsyncIterable<Stripe.PaymentIntent | Stripe.Checkout.Session>,
  reference: string,
): Promise<{ found: string | undefined; whole: boolean }> {
  let seen = 0;
  for await (const made of list) {
    if (made.metadata?.[metadataNames.payment] === reference) return { found: made.id, whole: false };
    if (++seen === searchedMax) return { found: undefined, whole: false };
  }
  return { found: undefined, whole: true };
}

function idOf(object: string | { readonly id: string } | null): string | undefined {
  return typeof object === "string" ? object : object?.id;
}

function inDoubt(answer: Answer<unknown> | undefined): Answer<never> {
  const cause = answer && "cause" in answer ? answer.cause : new Error("Stripe's search proves nothing");
  return { kind: "unknown", cause };
}
