// No public operation answers 5xx, or refuses for good, what the processor has done: remembers each such answer to a
// payment or refund by a text that only its request carries, and looks afterwards whether the processor did the work
// before the client tried again.
import type { Answer } from "../harness/api.ts";
import type { StripeAccount } from "../harness/stripe/stripe-account.ts";
import type { Json } from "../harness/stripe/stripe-records.ts";
import type { MoneyRig } from "./money-rig.ts";

export type Work = "payment" | "refund" | "capture";

interface RefusedRequest {
  readonly work: Work;
  /** In the payment's description, or in the refund's reason; of a capture the payment's id. */
  readonly marker: string;
  readonly answer: string;
  /** Ms since 1970. */
  readonly answeredAt: number;
  /**
   * When the client began to ask again, ms since 1970; from then on the work is that of the new request. Infinity:
   * never.
   */
  retriedAt: number;
}

interface RequestState {
  inFlight: number;
  last?: RefusedRequest;
}

export class Honesty {
  readonly #refused: RefusedRequest[] = [];
  readonly #asking = new Map<string, RequestState>();

  get count(): number {
    return this.#refused.length;
  }

  /** Sends the request, and remembers an answer that claims that nothing was done. */
  async ask(work: Work, marker: string, request: () => Promise<Answer>): Promise<Answer> {
    const asking = this.#asking.get(marker) ?? { inFlight: 0 };
    this.#asking.set(marker, asking);
    if (asking.last) asking.last.retriedAt = Math.min(asking.last.retriedAt, Date.now());
    asking.inFlight += 1;
    try {
      const answer = await request();
      // Work done meanwhile may belong to a concurrent request with the same key.
      const isAlone = asking.inFlight === 1;
      if (reportsNothingDone(answer) && isAlone) {
        const answeredAt = Date.now();
        asking.last = { work, marker, answer: String(answer), answeredAt, retriedAt: Number.POSITIVE_INFINITY };
        this.#refused.push(asking.last);
      }
      return answer;
    } finally {
      asking.inFlight -= 1;
    }
  }

  /** Those whose work the processor did: a line for each. */
  async broken(rig: MoneyRig, stripe: readonly StripeAccount[] = []): Promise<string[]> {
    const doneAt = await workDone(rig, stripe);
    return this.#refused.flatMap((one) => {
      const at = doneAt.get(`${one.work} ${one.marker}`);
      if (at === undefined || at >= one.retriedAt) return [];
      const [done, answered] = [new Date(at).toISOString(), new Date(one.answeredAt).toISOString()];
      return [`${one.work} ${one.marker}: done ${done}, and ${answered} the answer was ${one.answer.slice(0, 120)}`];
    });
  }
}

/** 409 invites the same request; 404 and 422 of a refund are about the payment as it was then. */
function reportsNothingDone({ status }: Answer): boolean {
  return status >= 500 || status === 402 || status === 403;
}

/** By kind and marker: when the processor first did it, ms since 1970. */
async function workDone({ books }: MoneyRig, stripe: readonly StripeAccount[]): Promise<Map<string, number>> {
  const ours = await books.payments.rows<{ work: string; id: string; marker: string }>(
    `select 'payment' as work, id, description as marker from payments where description <> ''
     union all select 'refund', id, reason from refunds where reason <> ''`,
  );
  // At the simulator the operation has our id, and a payment's intent also our description.
  const theirs = await books.simulator.rows<{ kind: string; reference: string; marker: string; at: number }>(
    `select o.kind, coalesce(o.reference, '') as reference, coalesce(i.description, '') as marker, (extract(epoch from o.created_at) * 1000)::float8 as at
     from operations o join intents i on i.id = o.intent_id where o.kind in ('refunds.create', 'intents.capture')
       or (o.kind = 'intents.create' and i.status in ('succeeded', 'requires_capture', 'processing'))`,
  );
  const at = new Map<string, number>();
  const done = (name: string, ms: number) => at.set(name, Math.min(ms, at.get(name) ?? Number.POSITIVE_INFINITY));
  const byReference = new Map(ours.map((row) => [`${row.work} ${row.id}`, row.marker]));
  for (const row of theirs.filter(({ kind }) => kind === "intents.capture")) done(`capture ${row.reference}`, row.at);
  for (const row of theirs.filter(({ kind }) => kind !== "intents.capture")) {
    const work = row.kind === "intents.create" ? "payment" : "refund";
    const marker = byReference.get(`${work} ${row.reference}`) ?? (work === "payment" ? row.marker : "");
    if (marker) done(`${work} ${marker}`, row.at);
  }
  for (const row of stripe.flatMap(atStripe)) {
    const marker = row.description || byReference.get(`${row.work} ${row.reference}`);
    if (marker) done(`${row.work} ${marker}`, row.at);
  }
  return at;
}

/**
 * Of the fake only whole seconds are known: the end of the second, so that a work is never taken for an earlier
 * request's.
 */
function atStripe(account: StripeAccount): { work: Work; reference: string; description: string; at: number }[] {
  const read = (work: Work, object: Json) => {
    const metadata = object.metadata as Json | undefined;
    const reference = String(metadata?.[work === "payment" ? "tollbooth_payment" : "tollbooth_refund"] ?? "");
    return { work, reference, description: String(object.description ?? ""), at: Number(object.created) * 1_000 + 999 };
  };
  const begun = ["succeeded", "requires_capture", "processing"];
  const paid = [...account.intents.values()].filter(({ status }) => begun.includes(status));
  return [
    ...paid.map((intent) => read("payment", intent)),
    ...[...account.refunds.values()].map((refund) => read("refund", refund)),
  ];
}
