// checkout.v1.PrivacyService, in proto order.
import type { ServiceImpl } from "@connectrpc/connect";
import { scopeOf } from "#platform/database/idempotency.ts";
import { requireFound } from "#platform/values/failure.ts";
import type { PrivacyService } from "#proto/checkout/v1/privacy_pb.ts";
import { requestErasure } from "../flows/buyers/erase-buyer.ts";
import { exportBuyer } from "../flows/buyers/export-buyer.ts";
import type { PrivacyContext } from "../flows/buyers/find-buyer.ts";
import { toErasure, toSession } from "../messages.ts";
import { findErasure, listErasures } from "../store/erasures.ts";

export function privacyRpc(context: PrivacyContext): ServiceImpl<typeof PrivacyService> {
  const { db, copiesDays } = context;
  return {
    createErasure: (request) => requestErasure(context, request, scopeOf("create_erasure", request)),
    getErasure: async (request) => {
      return { erasure: toErasure(requireFound(await findErasure(db, request, request.id)), copiesDays) };
    },
    listErasures: async (request) => {
      const erasures = await listErasures(db, request, request.limit);
      return { erasures: erasures.map((erasure) => toErasure(erasure, copiesDays)) };
    },
    exportBuyer: async (request) => {
      const { sessions, payments, hasMore } = await exportBuyer(context, request);
      return { sessions: sessions.map((session) => toSession(session, session)), payments: [...payments], hasMore };
    },
  };
}
