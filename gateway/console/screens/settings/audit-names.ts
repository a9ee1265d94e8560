// Names and pages of the ids in the audit log.
import { isId, type Noun } from "#platform/values/id.ts";
import type { ConsoleContext, MerchantVisit, PersonVisit } from "../../session/visit.ts";

export interface Names {
  readonly people: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
  /** Existing endpoints only. */
  readonly endpoints: ReadonlyMap<string, string>;
}

interface ObjectPage {
  readonly noun: Noun;
  readonly action: string;
  readonly path: string;
}

export const objectPages: readonly ObjectPage[] = [
  { noun: "apiKey", action: "keys.read", path: "/keys" },
  { noun: "endpoint", action: "webhooks.read", path: "/webhooks" },
  { noun: "connector", action: "connectors.read", path: "/processors" },
  { noun: "payment", action: "payments.read", path: "/payments" },
  { noun: "dispute", action: "payments.read", path: "/disputes" },
];

const idsMax = 200;

/** Names of people, API keys and endpoints. Without an answer the log shows ids. */
export async function namesOf(context: ConsoleContext, visit: MerchantVisit, ids: readonly string[]): Promise<Names> {
  const [people, keys, endpoints] = await Promise.all([
    peopleOf(context, visit, ids),
    keysOf(context, visit),
    endpointsOf(context, visit),
  ]);
  return { people, keys, endpoints };
}

/** @param merchantId empty: people of the operators' console */
export async function peopleOf(
  { peers, door }: ConsoleContext,
  { secret: sessionSecret, merchantId = "" }: PersonVisit & { readonly merchantId?: string },
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const personIds = [...new Set(ids.filter((id) => isId("person", id)))].slice(0, idsMax);
  if (personIds.length === 0) return new Map();
  const request = { sessionSecret, door, merchantId, personIds };
  const { people } = await peers.people.listNames(request).catch(() => ({ people: [] }));
  return new Map(people.map(({ id, name, email }) => [id, name || email]));
}

async function keysOf({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit) {
  const found = peers.apiKeys.listApiKeys({ merchantId, environment });
  const { apiKeys } = await found.catch(() => ({ apiKeys: [] }));
  return new Map(apiKeys.map(({ id, name, suffix }) => [id, `${name} ····${suffix}`]));
}

async function endpointsOf({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit) {
  const found = peers.webhooks.listEndpoints({ merchantId, environment });
  const { endpoints } = await found.catch(() => ({ endpoints: [] }));
  return new Map(endpoints.map(({ id, url }) => [id, url]));
}
