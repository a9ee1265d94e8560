// checkout.v1.SessionRecoveryService, in proto order. It rebuilds what restored databases lack.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { announcedSince } from "#platform/service/recovery-store.ts";
import { invalidField } from "#platform/values/failure.ts";
import type { SessionRecoveryService } from "#proto/checkout/v1/recovery_pb.ts";
import { rebuildPayments } from "../flows/rebuild-payments.ts";
import { type RebuildSessionContext, rebuildSession } from "../flows/rebuild-session.ts";

// Each session costs a call to payments and through it one or two to a processor.
const pageMax = 10;

export function sessionRecoveryRpc(context: RebuildSessionContext): ServiceImpl<typeof SessionRecoveryService> {
  return {
    rebuildPayments: async ({ since, after }) => {
      if (!since) throw invalidField("since", "is required");
      return await rebuildPayments(context, timestampDate(since), after);
    },
    rebuildSessions: async ({ after }) => {
      const events = await announcedSince(context.db, after, pageMax);
      const rebuilt = await Promise.all(events.map(({ body }) => rebuildSession(context, body)));
      const next = BigInt(events.length === pageMax ? (events.at(-1)?.streamSeq ?? 0) : 0);
      return { sessions: rebuilt.filter((each) => each !== undefined), next };
    },
  };
}
