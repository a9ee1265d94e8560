// Looks for what was made under our reference in Stripe's lists, which are exact and newest first: ten pages in a call,
// and a later call goes on where one ended. Stripe's search lags behind, so it proves nothing, but what it finds is a
// fact.
import Stripe from "stripe";
import type { IntentSearch, ProcessorAnswer } from "../connector.ts";
import { causeOf, questionAnswer } from "./client.ts";
import { metadataNames } from "./objects.ts";

const pageMax = 100; // of Stripe's lists
// Of one call: as many as Stripe answers within a call's time. An account with more objects than these is read in
// several calls.
const pagesMax = 10;
// A search begins this long before the time that Stripe itself had told: far more than any two of Stripe's machines can
// disagree.
const marginSeconds = 2 * 86_400;
// Nothing of ours is older than the first try to make it, by Stripe's own clock, but for what its machines disagree.
const slackSeconds = 600;

type List = "sessions" | "intents";
type StripeObject = Stripe.PaymentIntent | Stripe.Checkout.Session;
interface Cursor {
  readonly list: List;
  /** Empty: the list's beginning. */
  readonly after: string;
  /** When the first page was read, by Stripe's clock: what came later is in front of it. Milliseconds since 1970. */
  readonly at: number | undefined;
}

/**
 * The id of the intent, or of the page that makes it: the oldest that is found.
 * @param until no page is begun after it, but the first; by performance.now()
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
    // A place that Stripe refuses is no place to go on from.
    const isRefused = broken instanceof Stripe.errors.StripeInvalidRequestError;
    const hasCursor = reading.pages > 0 || search.after;
    return { kind: "unknown", cause: causeOf(broken), ...(hasCursor && !isRefused && { resumeAfter }) };
  }
  const query = `metadata['${metadataNames.payment}']:'${search.reference}'`;
  const hits = await questionAnswer(sdk.paymentIntents.search({ query, limit: pageMax }, call));
  const hit = hits.kind === "succeeded" ? hits.value.data.find((made) => isWanted(made, search)) : undefined;
  if (hit) return { kind: "succeeded", value: hit.id };
  return { kind: "unknown", cause: new Error("Stripe's lists are longer than one call reads"), resumeAfter };
}

class Reading {
  readonly #sdk: Stripe;
  readonly #call: Stripe.RequestOptions;
  readonly #search: IntentSearch;
  /** Where to go on; undefined: both lists are at their end. */
  cursor: Cursor | undefined;
  /** When the search began, by Stripe's clock, in milliseconds since 1970. */
  at: number | undefined;
  found: string | undefined;
  /** That were read. */
  pages = 0;

  constructor(sdk: Stripe, call: Stripe.RequestOptions, search: IntentSearch) {
    this.#sdk = sdk;
    this.#call = call;
    this.#search = search;
    // A payment by token has no page, whatever surface the account has for buyers; so a page's list is read before the
    // other.
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
    // An older one is looked for as long as there can be one; where no time is known, this page was enough.
    const isPast = since === undefined || last.created < seconds(since) - slackSeconds;
    return this.found !== undefined && isPast ? undefined : { list, after: last.id, at: this.at };
  }
}

/** Under our reference, and of this renewal. */
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
  if (list !== "sessions" && list !== "intents") throw new Error("not a place in a search");
  return { list, after, at: at === "" ? undefined : Number(at) };
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}

function dateMs(header: string | undefined): number | undefined {
  const ms = Date.parse(header ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}
