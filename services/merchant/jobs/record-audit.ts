// Writes the audit log from the events of all services. Events leave their service in the transaction of the act, and
// are acknowledged here after their entries are committed: no crash loses one, and a repeat finds its entry there.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Database } from "#platform/database/database.ts";
import type { Consumer } from "#platform/events/event-consumer.ts";
import { isId } from "#platform/values/id.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { durableConsumers } from "../../services.ts";
import { appendAudit } from "../flows/append-audit.ts";
import type { AuditEntry } from "../store/audit-entries.ts";

/** What is audited of each service. Everything that the merchant service announces is an administrative act. */
const audited = [
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
] as const;

export function auditConsumers(db: Database): Consumer[] {
  return audited.map((of) => ({ ...of, handle: (events) => appendAudit(db, events.flatMap(entryOf)) }));
}

/** Event attributes are facts for other services and hold no secrets, so they can be kept as they are. */
function entryOf(event: Event): AuditEntry[] {
  if (!isId("event", event.id) || !event.occurredAt) return [];
  // Ciphertext for its own service's rebuild.
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
