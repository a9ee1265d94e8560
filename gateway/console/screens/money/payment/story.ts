// What other services know of a payment: deliveries of its events, acts with the names of who did them. Who may not see
// deliveries or the audit log gets neither.
import type { AuditEntry } from "#proto/merchant/v1/audit_pb.ts";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import type { PaymentDelivery } from "#proto/webhook/v1/webhook_pb.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { unlessAway } from "../../../view/section.ts";

/** Undefined: away. Empty also where the person may not see it. */
export interface Story {
  readonly deliveries: readonly PaymentDelivery[] | undefined;
  readonly acts: readonly AuditEntry[] | undefined;
  /** By `usr_…`. */
  readonly names: ReadonlyMap<string, string>;
}

// More acts than a payment ever had.
const actsMax = 200;

export async function askStory(context: ConsoleContext, visit: MerchantVisit, paymentId: string): Promise<Story> {
  const { merchantId, environment, may } = visit;
  const { webhooks, audit } = context.peers;
  const nothing = Promise.resolve({ value: { deliveries: [], entries: [] } });
  const [deliveries, acts] = await Promise.all([
    may("webhooks.read")
      ? unlessAway(() => webhooks.listPaymentDeliveries({ merchantId, environment, paymentId }))
      : nothing,
    may("audit.read")
      ? unlessAway(() => audit.listAuditEntries({ merchantId, environment, paymentId, pageSize: actsMax }))
      : nothing,
  ]);
  const entries = acts?.value.entries;
  return {
    deliveries: deliveries?.value.deliveries,
    acts: entries,
    names: await namesOf(context, visit, entries?.map(({ actor }) => actor) ?? []),
  };
}

/** Without an answer people are shown by their ids. */
async function namesOf({ peers }: ConsoleContext, visit: MerchantVisit, actors: readonly string[]) {
  const personIds = [...new Set(actors)].filter((actor) => actor.startsWith("usr_"));
  if (personIds.length === 0) return new Map<string, string>();
  const { secret: sessionSecret, merchantId } = visit;
  const wish = { door: Door.MERCHANTS, sessionSecret, merchantId, personIds };
  const answer = await peers.people.listNames(wish).catch(() => undefined);
  return new Map(answer?.people.map(({ id, name, email }) => [id, name || email]));
}
