// Exports the filtered payments as CSV, newest first.
import type { FastifyReply } from "fastify";
import { Failure } from "#platform/values/failure.ts";
import type { ListPaymentsResponse } from "#proto/payments/v1/payments_pb.ts";
import { queryOf } from "../../../http/address.ts";
import { merchantPage } from "../../../routes.ts";
import { admitMember, admitPerson } from "../../../session/admit.ts";
import { Downloads, sendCsv } from "../../../session/download.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { csvHead, csvLine } from "./csv.ts";
import { readFilters } from "./filters.ts";

const right = "payments.export";

// A larger page costs as much per row and blocks other requests for longer.
const pageSize = 1_000;

export function exportRoutes(context: ConsoleContext): void {
  const downloads = new Downloads();
  merchantPage(context, "/payments.csv", right, (visit) => sendFile(context, downloads, visit));
}

async function sendFile(context: ConsoleContext, downloads: Downloads, visit: MerchantVisit): Promise<FastifyReply> {
  const { problems, criteria } = readFilters(queryOf(visit), visit.language);
  if (problems.length > 0) throw new Failure("NOT_FOUND");
  const { merchantId, environment, base, request, reply } = visit;
  return await sendCsv(visit, downloads, {
    ...paymentFile,
    name: `payments-${base.endsWith("/live") ? "live" : "sandbox"}`,
    owner: merchantId,
    load: (afterId) =>
      context.peers.payments.listPayments({
        ...{ merchantId, environment, limit: pageSize, afterId, withoutTotal: true },
        ...criteria,
      }),
    assertStillMay: async () => admitMember(await admitPerson(context, request, reply), right),
  });
}

export const paymentFile = {
  head: csvHead,
  linesOf: ({ payments }: ListPaymentsResponse) => payments.map(csvLine).join(""),
  nextOf: ({ payments, hasMore }: ListPaymentsResponse) => (hasMore ? payments.at(-1)?.id : undefined),
};
