// Loads the webhook deliveries of a payment and its audit entries with names, as far as the person may see them.
import { isId } from "#platform/values/id.ts";
import type { AuditEntry } from "#proto/merchant/v1/audit_pb.ts";
import type { PaymentDelivery } from "#proto/webhook/v1/webhook_pb.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { unlessAway } from "../../../view/section.ts";
import { peopleOf } from "../../settings/audit-names.ts";

/** Undefined during an outage; empty if the person may not see it. */
export interface Story {
  readonly deliveries: readonly PaymentDelivery[] | undefined;
  readonly acts: readonly AuditEntry[] | undefined;
  /** By `usr_…` or `ak_…`. */
  readonly names: ReadonlyMap<string, string>;
}

// More than a payment ever had.
const actsMax = 200;

export async function loadStory(context: ConsoleContext, visit: MerchantVisit, paymentId: string): Promise<Story> {
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

/** Names of people and keys. Without an answer the timeline shows ids. */
async function namesOf(context: ConsoleContext, visit: MerchantVisit, actors: readonly string[]) {
  const { merchantId, environment } = visit;
  const keyIds = visit.may("keys.read") ? [...new Set(actors.filter((actor) => isId("apiKey", actor)))] : [];
  const loadKey = async (apiKeyId: string) => {
    const { apiKey } = await context.peers.apiKeys.getApiKey({ merchantId, environment, apiKeyId });
    return [apiKeyId, apiKey ? `${apiKey.name} ····${apiKey.suffix}` : apiKeyId] as const;
  };
  const [people, ...keys] = await Promise.all([
    peopleOf(context, visit, actors),
    ...keyIds.map((id) => loadKey(id).catch(() => [id, id] as const)),
  ]);
  return new Map([...people, ...keys]);
}
