// events.v1.ReplayService of a service: what it published goes out again, from its outbox. Announces
// `events.replay_requested` (attributes `since`, `until`, `operator`) first, which the audit log takes in.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { Outbox } from "#platform/events/outbox.ts";
import { readRecord, sendAgain, sendAgainMax } from "#platform/events/stream-record.ts";
import { clockNow } from "#platform/values/clock.ts";
import { invalid } from "#platform/values/failure.ts";
import type { ReplayService } from "#proto/events/v1/replay_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { StateSources } from "./state-metrics.ts";

/** The method of ReplayService. */
export function replayRpc({ service, db, bus }: StateSources): ServiceImpl<typeof ReplayService> {
  const outbox = new Outbox({ namespace: bus.namespace, source: service });
  return {
    replayEvents: async ({ since: from, until: to, operator }) => {
      const since = from ? timestampDate(from) : clockNow();
      const until = to ? timestampDate(to) : clockNow();
      if (until <= since) throw invalid("until", "must be after since");
      const { readAt: asOf } = await readRecord(db);
      const attributes = { since: since.toISOString(), until: until.toISOString(), operator };
      const about = { merchantId: "", environment: Environment.UNSPECIFIED, objectId: service, status: "" };
      await outbox.append(db, [{ type: "events.replay_requested", ...about, at: clockNow(), attributes }]);
      let events = 0;
      for (let sent = sendAgainMax; sent === sendAgainMax; events += sent) {
        sent = await sendAgain(db, { since, until, asOf });
      }
      return { events: BigInt(events) };
    },
  };
}
