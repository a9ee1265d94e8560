// Which drills run side by side: those of a scene do not disturb each other, and each waits seconds for a job or a
// range of time.
import type { Drill } from "./drill.ts";
import { clusterDrills, eventDrills } from "./event-drills.ts";
import { auditDrills, encryptionDrills, keyDrills, webhookDrills } from "./merchant-drills.ts";
import { moneyDrills } from "./money-drills.ts";
import { processDrills, publicDrills } from "./process-drills.ts";

const all = [
  ...publicDrills,
  ...moneyDrills,
  ...eventDrills,
  ...webhookDrills,
  ...keyDrills,
  ...auditDrills,
  ...encryptionDrills,
  ...processDrills,
];

/** The drill of an alert; those of a cluster have a rig of their own. */
function drillOf(alert: string): Drill {
  const drill = [...all, ...clusterDrills].find(({ alerts }) => alerts.includes(alert));
  if (!drill) throw new Error(`${alert} has no drill`);
  return drill;
}

const scene = (...alerts: string[]) => alerts.map((alert) => drillOf(`Tollbooth${alert}`));

/** On a stack with one broker. */
export const scenes: readonly (readonly Drill[])[] = [
  // Rows, keys and calls.
  scene(
    "MoneyInSuspense",
    "StatementDifferences",
    "OperationsParked",
    "AuditBroken",
    "EncryptionKeyOld",
    "KeyFromElsewhere",
    "ManyNewKeys",
    "KeyFromNewNetwork",
    "CallerRefused",
    "WebhookAddressesBlocked",
    "EventsParked",
    "EventsRefused",
    "ProcessorWebhooksRefused",
    "ClockOff",
    "Recovering",
  ),
  scene("MoneyInvariant", "WrongKeys", "WebhooksFail"),
  scene("AuditUnproved", "WebhooksLate", "JobHangs"),
  scene("JobLate", "EventsNotTakenIn"),
  scene("InternalErrors"),
  // The processor.
  scene("EventListsBehind"),
  scene("ConnectorUnknownOutcomes"),
  scene("ConnectorCircuitOpen"),
  scene("CheckoutSlow"),
  // Processes and servers.
  scene("DatabasePoolExhausted"),
  scene("PublicErrors"),
  scene("RequestLogDropped"),
  scene("EventLoopLag"),
  scene("ServiceAway"),
  scene("ConsoleAway"),
  scene("MailsNotSent"),
  scene("ConsumerLag"),
  scene("StreamFilling"),
  scene("BrokerAway"),
  scene("EventsLost"),
];

/** On a stack with three brokers. */
export const clusterScenes: readonly (readonly Drill[])[] = [clusterDrills];

/** Every alert that a scene makes ring. */
export function drilledAlerts(): string[] {
  return [...scenes, ...clusterScenes].flat().flatMap(({ alerts }) => alerts);
}
