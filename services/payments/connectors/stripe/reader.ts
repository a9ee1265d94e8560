// Reads one of our intents with all its objects from Stripe, and searches objects by our reference.
import type Stripe from "stripe";
import {
  type EventPage,
  isKnown,
  type ProcessorAccount,
  type ProcessorAnswer,
  type StatementPage,
  type StatementPeriod,
} from "../connector.ts";
import type { IntentSearch } from "../order.ts";
import { processorShareMs } from "../processor-time.ts";
import { hasTriesWithoutCharge } from "./attempts.ts";
import { inDoubt, queryAnswer } from "./client.ts";
import { readEventPage } from "./event.ts";
import { metadataNames, type StripeIntent } from "./objects.ts";
import { findOurs } from "./search.ts";
import { readStatementPage } from "./statement.ts";
import { emptyHistory, readTries } from "./tries.ts";

const pageMax = 100; // of Stripe's lists
// A payment has far fewer refunds; more are an error.
const refundsMax = 1_000;
/** True for the id of a Checkout Session, our reference for an intent of Stripe's own page. */
export function isSession(ref: string): boolean {
  return ref.startsWith("cs_");
}

export class StripeReader {
  readonly #sdk: Stripe;
  readonly #timeoutMs: number;
  readonly #time: () => Date | undefined;

  /** @param time Stripe's clock by its last answer */
  constructor(sdk: Stripe, timeoutMs: number, time: () => Date | undefined) {
    this.#time = time;
    this.#sdk = sdk;
    this.#timeoutMs = timeoutMs;
  }

  /** @param ref of a PaymentIntent or a Checkout Session. @param eventId as in the port's retrieveIntent */
  async read(account: ProcessorAccount, ref: string, eventId = ""): Promise<ProcessorAnswer<StripeIntent>> {
    const call = this.callOf(account);
    const isOfPages = account.surface === "redirect";
    return await queryAnswer(
      isSession(ref) ? this.#readSession(call, ref, eventId) : this.#readIntent(call, ref, eventId, isOfPages),
    );
  }

  /** Finds an intent by our reference. Not found only if it is not in Stripe's complete lists of that time. */
  async find(account: ProcessorAccount, search: IntentSearch): Promise<ProcessorAnswer<StripeIntent>> {
    // Half of the time is for the lists; the rest is for reading the hit, or for returning a cursor.
    const until = performance.now() + processorShareMs(this.#timeoutMs) / 2;
    const found = await findOurs(this.#sdk, this.callOf(account), search, until);
    if (!isKnown(found)) return found;
    const read = await this.read(account, found.value);
    // A listed object exists, so `not_found` is wrong.
    return read.kind === "not_found" ? inDoubt(read) : read;
  }

  /** The PaymentIntent's id; not found while the buyer has not begun to pay on Stripe's page. */
  async intentId(account: ProcessorAccount, ref: string): Promise<ProcessorAnswer<string>> {
    if (!isSession(ref)) return { kind: "succeeded", value: ref };
    const session = await queryAnswer(this.#sdk.checkout.sessions.retrieve(ref, {}, this.callOf(account)));
    if (!isKnown(session)) return inDoubt(session);
    const id = idOf(session.value.payment_intent);
    if (id) return { kind: "succeeded", value: id };
    return { kind: "not_found", at: this.#time(), cause: new Error("the page has no intent yet") };
  }

  /** The PaymentIntent's id while it is authorized and uncaptured; else empty. */
  async authorizedId(account: ProcessorAccount, ref: string): Promise<ProcessorAnswer<string>> {
    const id = await this.intentId(account, ref);
    if (id.kind === "not_found") return { kind: "succeeded", value: "" };
    if (id.kind !== "succeeded") return id;
    const intent = await queryAnswer(this.#sdk.paymentIntents.retrieve(id.value, {}, this.callOf(account)));
    if (!isKnown(intent)) return intent;
    return { kind: "succeeded", value: intent.value.status === "requires_capture" ? id.value : "" };
  }

  async statement(
    account: ProcessorAccount,
    period: StatementPeriod,
    after: string,
  ): Promise<ProcessorAnswer<StatementPage>> {
    return await queryAnswer(readStatementPage(this.#sdk, this.callOf(account), period, after));
  }

  async events(account: ProcessorAccount, since: Date | undefined, after: string): Promise<ProcessorAnswer<EventPage>> {
    return await queryAnswer(readEventPage(this.#sdk, this.callOf(account), since, after));
  }

  /** All refunds of a PaymentIntent, newest first. */
  async refunds(account: ProcessorAccount, intentId: string): Promise<ProcessorAnswer<readonly Stripe.Refund[]>> {
    return await queryAnswer(this.#listRefunds(this.callOf(account), intentId));
  }

  async #readSession(call: Stripe.RequestOptions, ref: string, eventId: string): Promise<StripeIntent> {
    const session = await this.#sdk.checkout.sessions.retrieve(ref, {}, call);
    const id = idOf(session.payment_intent);
    if (!id) return { ref, session, intent: undefined, charges: [], history: emptyHistory, refunds: [], disputes: [] };
    return { ...(await this.#gather(call, id, eventId)), ref, session };
  }

  async #readIntent(
    call: Stripe.RequestOptions,
    ref: string,
    eventId: string,
    isOfPages: boolean,
  ): Promise<StripeIntent> {
    const gathered = await this.#gather(call, ref, eventId);
    const { [metadataNames.page]: page, [metadataNames.payment]: payment } = gathered.intent.metadata;
    // Others can clear the metadata, so it only saves a call.
    if (page === undefined && payment !== undefined && !isOfPages) return { ...gathered, ref, session: undefined };
    const { data } = await this.#sdk.checkout.sessions.list({ payment_intent: ref, limit: 1 }, call);
    const [session] = data;
    if (!session && page !== undefined) throw new Error("a PaymentIntent of Stripe's page without its session");
    return { ...gathered, ref: session?.id ?? ref, session };
  }

  async #gather(call: Stripe.RequestOptions, id: string, eventId: string) {
    const moved = ["balance_transaction", "failure_balance_transaction"];
    const expand = ["payment_method", "latest_charge.refunds", ...moved.map((name) => `latest_charge.${name}`)];
    // One page holds all charges: a session ends after its tenth attempt.
    const [intent, listed] = await Promise.all([
      this.#sdk.paymentIntents.retrieve(id, { expand }, call),
      this.#sdk.charges.list({ payment_intent: id, limit: pageMax, expand: moved.map((name) => `data.${name}`) }, call),
    ]);
    // The list may be slightly older than the intent.
    const latest = typeof intent.latest_charge === "object" ? intent.latest_charge : null;
    const charges = [...(latest ? [latest] : []), ...listed.data.filter((charge) => charge.id !== latest?.id)];
    const [history, refunds, disputes] = await Promise.all([
      eventId !== "" || hasTriesWithoutCharge(intent) ? readTries(this.#sdk, call, intent, eventId) : emptyHistory,
      latest?.refunds?.has_more ? this.#listRefunds(call, id) : (latest?.refunds?.data ?? []),
      charges.some((charge) => charge.disputed) ? this.#listDisputes(call, id) : [],
    ]);
    return { intent, charges, history, refunds, disputes };
  }

  async #listRefunds(call: Stripe.RequestOptions, id: string): Promise<readonly Stripe.Refund[]> {
    const list = this.#sdk.refunds.list({ payment_intent: id, limit: pageMax }, call);
    const refunds = await list.autoPagingToArray({ limit: refundsMax });
    if (refunds.length === refundsMax) throw new Error(`the payment has ${refundsMax} refunds or more`);
    return refunds;
  }

  async #listDisputes(call: Stripe.RequestOptions, id: string): Promise<readonly Stripe.Dispute[]> {
    return (await this.#sdk.disputes.list({ payment_intent: id, limit: pageMax }, call)).data;
  }

  /** Calls with the same options share the time limit. */
  callOf({ credentials }: ProcessorAccount): Stripe.RequestOptions {
    const end = performance.now() + processorShareMs(this.#timeoutMs);
    return {
      apiKey: credentials.secret_key ?? "",
      get timeout() {
        return Math.max(1, Math.ceil(end - performance.now()));
      },
    };
  }
}

function idOf(object: string | { readonly id: string } | null): string | undefined {
  return typeof object === "string" ? object : object?.id;
}
