// Searches an object by our reference in Stripe's lists, which are exact and newest first: ten pages per call, resumed
// by a later call. Stripe's own search lags, so its hit is a fact and its miss proves nothing.
import Stripe from "stripe";
import type { ProcessorAnswer } from "../connector.ts";
import type { IntentSearch } from "../order.ts";
import { causeOf, queryAnswer } from "./client.ts";
import { metadataNames } from "./objects.ts";

const pageMax = 100; // of Stripe's lists
// As many pages as Stripe answers within the time of one call.
const pagesMax = 10;
// The search begins this long before Stripe's time of the first try: far more than the clocks of Stripe's machines
// differ.
const marginSeconds = 2 * 86_400;
// No object is older than its first try by Stripe's clock, apart from this difference between its machines.
const slackSeconds = 600;

type List = "sessions" | "intents";
type StripeObject = Stripe.PaymentIntent | Stripe.Checkout.Session;
interface Cursor {
  readonly list: List;
  /** Empty: the beginning. */
  readonly after: string;
  /** Stripe's time of the first page, ms since 1970: later objects precede it. */
  readonly at: number | undefined;
}

/**
 * The id of the oldest matching intent or page.
 * @param until by performance.now(): after it only the first page is read
 */
export async function findOurs(
  sdk: Stripe,
  call: Stripe.RequestOptions,
  search: IntentSearch,
  until: number,
): Promise<ProcessorAnswer<string>> {
  const reading = new Reading(sdk, call, search);
  const broken = await reading.run(until).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (reading.found !== undefined) return { kind: "succeeded", value: reading.found };
  if (reading.cursor === undefined) {
    const at = reading.at === undefined ? undefined : new Date(reading.at);
    return { kind: "not_found", at, cause: new Error("Stripe has nothing under this reference") };
  }
  const resumeAfter = cursorText(reading.cursor);
  if (broken !== undefined) {
    // A cursor that Stripe refuses cannot be resumed.
    const isRefused = broken instanceof Stripe.errors.StripeInvalidRequestError;
    const hasCursor = reading.pages > 0 || search.after;
    return { kind: "unknown", cause: causeOf(broken), ...(hasCursor && !isRefused && { resumeAfter }) };
  }
  const query = `metadata['${metadataNames.payment}']:'${search.reference}'`;
  const hits = await queryAnswer(sdk.paymentIntents.search({ query, limit: pageMax }, call));
  const hit = hits.kind === "succeeded" ? hits.value.data.find((made) => isWanted(made, search)) : undefined;
  if (hit) return { kind: "succeeded", value: hit.id };
  return { kind: "unknown", cause: new Error("Stripe's lists are too long for one call"), resumeAfter };
}

class Reading {
  readonly #sdk: Stripe;
  readonly #call: Stripe.RequestOptions;
  readonly #search: IntentSearch;
  /** undefined: both lists are read. */
  cursor: Cursor | undefined;
  /** Stripe's time of the first page, ms since 1970. */
  at: number | undefined;
  found: string | undefined;
  pages = 0;

  constructor(sdk: Stripe, call: Stripe.RequestOptions, search: IntentSearch) {
    this.#sdk = sdk;
    this.#call = call;
    this.#search = search;
    // A payment by token has no page even if the account's surface is a page, so both lists are read.
    const first: List = search.surface === "redirect" ? "sessions" : "intents";
    this.cursor = search.after ? cursorOf(search.after) : { list: first, after: "", at: undefined };
    this.at = this.cursor.at;
  }

  async run(until: number): Promise<void> {
    for (; this.cursor && this.pages < pagesMax; this.pages++) {
      if (this.pages > 0 && performance.now() > until) return;
      this.cursor = await this.#readPage(this.cursor);
    }
  }

  async #readPage({ list, after }: Cursor): Promise<Cursor | undefined> {
    const { since } = this.#search;
    const window = {
      limit: pageMax,
      ...(since && { created: { gte: seconds(since) - marginSeconds } }),
      ...(after === "" ? {} : { starting_after: after }),
    };
    const page = await listPage(this.#sdk, this.#call, list, window);
    this.at ??= dateMs(page.lastResponse.headers.date);
    const ours = page.data.findLast((made) => isWanted(made, this.#search));
    this.found = ours?.id ?? this.found;
    const last = page.data.at(-1);
    if (!page.has_more || !last) {
      return list === "sessions" && this.found === undefined ? { list: "intents", after: "", at: this.at } : undefined;
    }
    // Continues while an older match is possible; without a time, this page is enough.
    const isPast = since === undefined || last.created < seconds(since) - slackSeconds;
    return this.found !== undefined && isPast ? undefined : { list, after: last.id, at: this.at };
  }
}

function isWanted({ metadata }: StripeObject, { reference, renewal = 0 }: IntentSearch): boolean {
  const its = Number(metadata?.[metadataNames.renewal] ?? 0);
  return metadata?.[metadataNames.payment] === reference && its === renewal;
}

async function listPage(
  sdk: Stripe,
  call: Stripe.RequestOptions,
  list: List,
  window: Stripe.PaymentIntentListParams & Stripe.Checkout.SessionListParams,
): Promise<Stripe.Response<Stripe.ApiList<StripeObject>>> {
  return list === "sessions"
    ? await sdk.checkout.sessions.list(window, call)
    : await sdk.paymentIntents.list(window, call);
}

function cursorText({ list, after, at }: Cursor): string {
  return `${list}:${after}:${at ?? ""}`;
}

function cursorOf(text: string): Cursor {
  const [list = "", after = "", at = ""] = text.split(":");
  if (list !== "sessions" && list !== "intents") throw new Error("not a search cursor");
  return { list, after, at: at === "" ? undefined : Number(at) };
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}

function dateMs(header: string | undefined): number | undefined {
  const ms = Date.parse(header ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}
