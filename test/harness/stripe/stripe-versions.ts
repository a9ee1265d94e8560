// Stripe's objects as older API versions write them: a webhook endpoint and an account's event list keep the version
// they were made with, whatever version a request names.
import type { FakeEvent, Json } from "./stripe-records.ts";

/** The event with its object in the shape of the version. */
export function inVersion(event: FakeEvent, version: string): FakeEvent {
  const object = changes.reduce(
    (shape, [since, older]) => (version < since ? older(shape) : shape),
    structuredClone(event.data.object),
  );
  return { ...event, api_version: version, data: { ...event.data, object } };
}

/** Reverts the changes of each version, newest first. (https://docs.stripe.com/upgrades) */
const changes: readonly (readonly [since: string, older: (object: Json) => Json])[] = [
  [
    "2022-11-15",
    (object) => {
      if (object.object === "charge") return { ...object, refunds: { object: "list", data: [], has_more: false } };
      if (object.object !== "payment_intent") return object;
      const { latest_charge: latest, ...rest } = object;
      const charges = latest ? [{ id: latest, object: "charge", payment_intent: object.id }] : [];
      return { ...rest, charges: { object: "list", data: charges, has_more: false } };
    },
  ],
  [
    "2019-02-11",
    (object) => {
      if (object.object !== "payment_intent") return object;
      const statuses: Json = { requires_payment_method: "requires_source", requires_action: "requires_source_action" };
      return { ...object, status: statuses[String(object.status)] ?? object.status };
    },
  ],
];
