// Stripe's webhooks: what happens at the accounts of the fake is sent to the gateway, signed, until it is taken; late,
// doubled, in another order, its first try lost, or not at all, by the seed.
import { setTimeout as pause } from "node:timers/promises";
import { apiClient } from "../harness/api.ts";
import { signEvent } from "../harness/stripe/fake-stripe.ts";
import type { Json } from "../harness/stripe/stripe-records.ts";
import type { Drawn } from "./drawn.ts";
import type { FaultName } from "./fault-table.ts";
import { tryOnce } from "./persistent-client.ts";
import { Random } from "./random.ts";
import type { Shop, StripeShop } from "./shop.ts";

const pollEveryMs = 50;
const againMs = { first: 300, max: 3_000 };
const lateMs = 600;

/** How an event is treated, of a hundred; the rest is sent at once. */
export const treatments = [
  ["events late", 8],
  ["events doubled", 8],
  ["events reordered", 8],
  ["events dropped once", 8],
  ["events lost permanently", 2],
  [undefined, 66],
] as const satisfies readonly (readonly [FaultName | undefined, number])[];

/** An event on its way, named for who must find out why it is not taken. */
interface Sending {
  readonly account: string;
  readonly event: string;
  last: string;
}

export class StripePost {
  readonly #url: string;
  readonly #drawn: Drawn;
  readonly #random: Random;
  readonly #underWay = new Map<Promise<void>, Sending>();
  readonly #over = new AbortController();
  readonly #looking: Promise<void>;
  readonly #sent = new Map<string, number>();
  readonly #shops: readonly Shop[];

  /** @param url of the gateway. It sends at once, until it is stopped. */
  constructor(url: string, shops: readonly Shop[], drawn: Drawn, seed: number) {
    this.#url = url;
    this.#shops = shops;
    this.#drawn = drawn;
    this.#random = new Random(seed);
    this.#looking = this.#look();
  }

  /**
   * Waits until everything that has happened was taken.
   * @param limitMs how long at most
   * @returns a line for each event that was not, with the last answer to it
   */
  async flush(limitMs: number): Promise<string[]> {
    this.#collect();
    const over = AbortSignal.timeout(limitMs);
    while (this.#underWay.size > 0 && !over.aborted) await pause(pollEveryMs);
    return [...this.#underWay.values()].map(
      ({ account, event, last }) => `${account}: ${event} was not taken: ${last}`,
    );
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#looking;
    await Promise.all(this.#underWay.keys());
  }

  async #look(): Promise<void> {
    while (!this.#over.signal.aborted) {
      this.#collect();
      await pause(pollEveryMs);
    }
  }

  #collect(): void {
    for (const { stripe } of this.#shops) {
      if (!stripe) continue;
      const { account } = stripe;
      const fresh = account.events.slice(this.#sent.get(account.id) ?? 0);
      this.#sent.set(account.id, account.events.length);
      for (const event of fresh) this.#treat(stripe, event);
    }
  }

  #treat(stripe: StripeShop, event: Json): void {
    const drawn = this.#random.pick(treatments);
    const treatment = drawn && this.#drawn.may(drawn) ? drawn : undefined;
    if (treatment) this.#drawn.count(treatment);
    if (treatment === "events lost permanently") return void lose(stripe, event);
    const isLater = treatment === "events late" || treatment === "events reordered";
    const waits = isLater || treatment === "events dropped once" ? lateMs : 0;
    for (let copies = treatment === "events doubled" ? 2 : 1; copies > 0; copies--) {
      const state: Sending = {
        account: stripe.account.id,
        event: `${event.type} ${event.id}`,
        last: "not sent",
      };
      const sending = this.#send(stripe, event, waits, state).finally(() => this.#underWay.delete(sending));
      this.#underWay.set(sending, state);
    }
  }

  async #send(stripe: StripeShop, event: Json, waitMs: number, state: Sending): Promise<void> {
    await pause(waitMs);
    for (
      let againAfter: number = againMs.first;
      !this.#over.signal.aborted;
      againAfter = Math.min(againAfter * 2, againMs.max)
    ) {
      // Each attempt is signed with the present secret.
      const { body, header } = signEvent(event, stripe.webhookSecret);
      const path = `/processors/stripe/${stripe.account.id}`;
      const answer = await tryOnce(() => apiClient(this.#url).post(path, body, { "stripe-signature": header }));
      if (answer?.status === 200) return;
      state.last = String(answer ?? "no answer");
      await pause(againAfter);
    }
  }
}

function lose({ untold }: StripeShop, { data }: Json): void {
  const { object } = data as { object: Json };
  const intent = String(object.object === "payment_intent" ? object.id : object.payment_intent);
  untold.set(intent, (untold.get(intent) ?? 0) + 1);
}
