// What the ids in the audit log are called, and which of them have a page.
import { isId, type Noun } from "#platform/values/id.ts";
import type { ConsoleContext, MerchantVisit } from "../../session/visit.ts";

export interface Names {
  readonly people: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
  /** Of endpoints that are still there. */
  readonly endpoints: ReadonlyMap<string, string>;
}

interface ObjectPage {
  readonly noun: Noun;
  /** The right to see it. */
  readonly action: string;
  readonly path: string;
}

/** Objects with a page of their own. */
export const objectPages: readonly ObjectPage[] = [
  { noun: "apiKey", action: "keys.read", path: "/keys" },
  { noun: "endpoint", action: "webhooks.read", path: "/webhooks" },
  { noun: "connector", action: "connectors.read", path: "/processors" },
  { noun: "payment", action: "payments.read", path: "/payments" },
  { noun: "dispute", action: "payments.read", path: "/disputes" },
];

const idsMax = 200;

/** Names of people, API keys and endpoints. The log is worth reading without them, too. */
export async function namesOf(context: ConsoleContext, visit: MerchantVisit, ids: readonly string[]): Promise<Names> {
  const [people, keys, endpoints] = await Promise.all([
    peopleOf(context, visit, ids),
    keysOf(context, visit),
    endpointsOf(context, visit),
  ]);
  return { people, keys, endpoints };
}

async function peopleOf({ peers, door }: ConsoleContext, visit: MerchantVisit, ids: readonly string[]) {
  const { secret: sessionSecret, merchantId } = visit;
  const personIds = [...new Set(ids.filter((id) => isId("person", id)))].slice(0, idsMax);
  if (personIds.length === 0) return new Map<string, string>();
  try {
    const { people } = await peers.people.listNames({ sessionSecret, door, merchantId, personIds });
    return new Map(people.map(({ id, name, email }) => [id, name || email]));
  } catch {
    return new Map<string, string>();
  }
}

async function keysOf({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit) {
  try {
    const { apiKeys } = await peers.apiKeys.listApiKeys({ merchantId, environment });
    return new Map(apiKeys.map(({ id, name, suffix }) => [id, `${name} ····${suffix}`]));
  } catch {
    return new Map<string, string>();
  }
}

async function endpointsOf({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit) {
  try {
    const { endpoints } = await peers.webhooks.listEndpoints({ merchantId, environment });
    return new Map(endpoints.map(({ id, url }) => [id, url]));
  } catch {
    return new Map<string, string>();
  }
}
