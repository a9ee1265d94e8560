// Settings for a service inside a flow test: a fresh database, its own namespace on the run's NATS, new keys and token.
// Also a listener for announced events, and the check of a refusal.
import { EventBus } from "#platform/events/event-bus.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import type { Source } from "../../services/services.ts";
import { freshDatabase } from "../harness/database.ts";
import { eventually } from "../harness/eventually.ts";
import { type CommonSettings, commonSettings } from "../harness/payments/money-services.ts";

/** Settings common to all services. */
export async function serviceConfig(service: Source): Promise<CommonSettings & { DATABASE_URL: string }> {
  return { ...(await commonSettings()), DATABASE_URL: (await freshDatabase(service)).serviceUrl };
}

/** Events of a service since the listener started. */
export interface AnnouncedEvents {
  /** Waits for the first event of the type about the object. */
  event(type: string, objectId: string): Promise<Event>;
  /** How many were received so far. */
  count(type: string, objectId: string): number;
  stop(): Promise<void>;
}

/** Listens to all events of the source. */
export async function listenTo(
  settings: Pick<CommonSettings, "NATS_URL" | "NATS_NAMESPACE">,
  source: Source,
): Promise<AnnouncedEvents> {
  const events: Event[] = [];
  const log = createLog("test", "error");
  const bus = new EventBus({
    broker: { url: settings.NATS_URL },
    namespace: settings.NATS_NAMESPACE,
    name: "test",
    log,
  });
  let open = false;
  bus.listen({ source, types: ">", onEvent: (event) => events.push(event), onGap: () => (open = true) });
  await eventually("the listener to start", () => open);
  const find = (type: string, id: string) => events.filter((event) => event.type === type && event.objectId === id);
  return {
    event: (type, objectId) => eventually(`${type} of ${objectId}`, () => find(type, objectId)[0]),
    count: (type, objectId) => find(type, objectId).length,
    stop: () => bus.close(),
  };
}

/** True for a refusal with the reason, about the field if one is given. */
export function isRefusal(reason: string, field?: string): (error: unknown) => boolean {
  return (error) =>
    error instanceof Failure &&
    error.reason === reason &&
    (field === undefined || error.violations.some((violation) => violation.field === field));
}
