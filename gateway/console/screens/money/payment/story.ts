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
  /** By `usr_…` or `ak_…`. */
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

/** Without an answer people and keys are shown by their ids. */
async function namesOf({ peers }: ConsoleContext, visit: MerchantVisit, actors: readonly string[]) {
  const { secret: sessionSecret, merchantId, environment } = visit;
  const known = [...new Set(actors)];
  const personIds = known.filter((actor) => actor.startsWith("usr_"));
  const keyIds = visit.may("keys.read") ? known.filter((actor) => actor.startsWith("ak_")) : [];
  const askPeople = async () => {
    if (personIds.length === 0) return [];
    const { people } = await peers.people.listNames({ door: Door.MERCHANTS, sessionSecret, merchantId, personIds });
    return people.map(({ id, name, email }): [string, string] => [id, name || email]);
  };
  const askKey = async (apiKeyId: string): Promise<[string, string][]> => {
    const { apiKey } = await peers.apiKeys.getApiKey({ merchantId, environment, apiKeyId });
    return apiKey ? [[apiKeyId, `${apiKey.name} ····${apiKey.suffix}`]] : [];
  };
  const requests = [askPeople(), ...keyIds.map(askKey)];
  const found = await Promise.all(requests.map(async (each) => await each.catch((): [string, string][] => [])));
  return new Map(found.flat());
}
