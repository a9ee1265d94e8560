// The operators' door to a service's recovery: every method of status.v1.RecoveryService, in its order.
import { fromBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { Outbox } from "#platform/events/outbox.ts";
import { clockNow } from "#platform/values/clock.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { RecoveryService } from "#proto/status/v1/recovery_pb.ts";
import type { Recovery } from "./recovery.ts";
import {
  announcedSince,
  beginRecovery,
  endRecovery,
  type LostEvent,
  missingEvents,
  noteAct,
  type OwnEvent,
  readFence,
  recoveryActs,
  serverOf,
  takeBackEvents,
} from "./recovery-store.ts";
import type { StateSources } from "./state-metrics.ts";

const actsMax = 100;
const lostPageMax = 500;

export function recoveryRpc(
  { service, db, bus }: StateSources,
  recovery: Recovery,
): ServiceImpl<typeof RecoveryService> {
  const outbox = new Outbox({ namespace: bus.namespace, source: service });
  return {
    getRecovery: async ({ limit }) => {
      const [{ why, since }, { events, left, taken: restored }, acts] = await Promise.all([
        readFence(db),
        missingEvents(db, limit),
        recoveryActs(db, actsMax),
      ]);
      return {
        service,
        why,
        ...(since && { since: timestampFromDate(since) }),
        eventsMissing: BigInt(left),
        eventsTakenBack: BigInt(restored),
        events: events.map(eventMessage),
        acts: acts.map((act) => ({ ...act, at: timestampFromDate(act.at) })),
      };
    },
    beginRecovery: async ({ operator, note }) => {
      const begun = await beginRecovery(db, { operator, note });
      await recovery.checkDatabase();
      return { begun };
    },
    takeBackEvents: async ({ operator }) => {
      const restored = await db.transaction(async (tx) => {
        const count = await takeBackEvents(tx);
        if (count > 0) await noteAct(tx, { act: "events_taken_back", operator, note: `${count} events` });
        return count;
      });
      const { left } = await missingEvents(db, 0);
      return { takenBack: BigInt(restored), left: BigInt(left) };
    },
    listLostEvents: async ({ after }) => {
      const events = await announcedSince(db, after, lostPageMax);
      const next = BigInt(events.length === lostPageMax ? (events.at(-1)?.streamSeq ?? 0) : 0);
      return { events: events.map(lostMessage), next };
    },
    endRecovery: async ({ operator, note, anyway }) => {
      const decision = { operator, note: anyway ? `anyway: ${note}` : note, server: await serverOf(db) };
      const about = { merchantId: "", environment: Environment.UNSPECIFIED, objectId: service, status: "" };
      const attributes = { operator, note, anyway: String(anyway) };
      const ended = await endRecovery(db, decision, (tx) =>
        outbox.append(tx, [{ type: "events.recovery_ended", ...about, at: clockNow(), attributes }]),
      );
      await recovery.checkDatabase();
      return { ended };
    },
  };
}

function lostMessage({ takenBack, doneAgain, ...event }: LostEvent) {
  const { environment } = fromBinary(EventSchema, event.body);
  return { event: eventMessage(event), takenBack, doneAgain, environment };
}

function eventMessage({ id, body }: OwnEvent) {
  const { type, merchantId, objectId, occurredAt } = fromBinary(EventSchema, body);
  return { id, type, merchantId, objectId, ...(occurredAt && { occurredAt }) };
}
