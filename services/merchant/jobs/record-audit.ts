// Writes the audit log from the events of all services. A service announces an act in the act's transaction, and this
// job acknowledges the event after its entry is committed, so no crash loses an entry.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Database } from "#platform/database/database.ts";
import type { Consumer } from "#platform/events/event-consumer.ts";
import { isId } from "#platform/values/id.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { durableConsumers } from "../../services.ts";
import { appendAudit } from "../flows/append-audit.ts";
import type { AuditEntry } from "../store/audit-entries.ts";

/** The audited events of each service. All events of the merchant service are administrative acts. */
const consumers = [
  durableConsumers.auditMerchants,
  durableConsumers.auditEndpoints,
  durableConsumers.auditRefunds,
  durableConsumers.auditDisputes,
  durableConsumers.auditFees,
  durableConsumers.auditOperations,
  durableConsumers.auditAdjustments,
  durableConsumers.auditReplays,
  durableConsumers.auditCheckoutReplays,
  durableConsumers.auditWebhookReplays,
  durableConsumers.auditExpiries,
  durableConsumers.auditRiskRules,
  durableConsumers.auditLinks,
  durableConsumers.auditErasures,
] as const;

export function auditConsumers(db: Database): Consumer[] {
  return consumers.map((consumer) => ({ ...consumer, handle: (events) => appendAudit(db, events.flatMap(entryOf)) }));
}

/** Event attributes contain no secrets and are stored unchanged. */
function entryOf(event: Event): AuditEntry[] {
  if (!isId("event", event.id) || !event.occurredAt) return [];
  // Ciphertext that only the announcing service needs, to rebuild its state.
  const { image: _, ...details } = event.attributes;
  return [
    {
      id: event.id,
      occurredAt: timestampDate(event.occurredAt),
      merchantId: event.merchantId,
      environment: event.environment,
      actor: event.actor,
      requestId: event.requestId,
      action: event.type,
      objectId: event.objectId,
      status: event.status,
      details,
    },
  ];
}
