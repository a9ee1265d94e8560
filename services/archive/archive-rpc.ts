// status.v1.ArchiveService, in proto order.
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import type { Database } from "#platform/database/database.ts";
import { clockMs } from "#platform/values/clock.ts";
import { invalidField } from "#platform/values/failure.ts";
import type { ArchiveService } from "#proto/status/v1/archive_pb.ts";
import type { Archive } from "./archive.ts";
import { listMonths } from "./months.ts";

// Refunds and disputes of younger payments are common.
const keptMonths = 6;

export function archiveRpc({ db, archive }: { db: Database; archive: Archive }): ServiceImpl<typeof ArchiveService> {
  return {
    listMonths: async () => ({ months: (await listMonths(db)).map(messageFields) }),
    archiveMonth: async ({ month }) => {
      const now = new Date(clockMs());
      const newest = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - keptMonths - 1, 1)).toISOString();
      if (month > newest.slice(0, 7)) {
        throw invalidField("month", `must have ended ${keptMonths} months ago: ${newest.slice(0, 7)} or earlier`);
      }
      await archive.begin(month, "archived");
      return {};
    },
    restoreMonth: async ({ month }) => {
      await archive.begin(month, "restored");
      return {};
    },
  };
}
