// Exports the filtered payments or refunds as CSV, newest first.
import type { FastifyReply } from "fastify";
import { Failure } from "#platform/values/failure.ts";
import type { ListPaymentsResponse, ListRefundsResponse } from "#proto/payments/v1/payments_pb.ts";
import { queryOf } from "../../../http/address.ts";
import { merchantPage } from "../../../routes.ts";
import { admitMember, admitPerson } from "../../../session/admit.ts";
import { Downloads, sendCsv } from "../../../session/download.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { csvFileOf, paymentColumns, refundColumns } from "./csv.ts";
import { readFilters } from "./filters.ts";
import { readRefundFilters } from "./refunds.ts";

const right = "payments.export";

// A larger page costs as much per row and blocks other requests for longer.
const pageSize = 1_000;
const refundPageSize = 200;

export function exportRoutes(context: ConsoleContext): void {
  const downloads = new Downloads();
  merchantPage(context, "/payments.csv", right, (visit) => sendPayments(context, downloads, visit));
  merchantPage(context, "/refunds.csv", right, (visit) => sendRefunds(context, downloads, visit));
}

async function sendPayments(
  context: ConsoleContext,
  downloads: Downloads,
  visit: MerchantVisit,
): Promise<FastifyReply> {
  const { problems, criteria } = readFilters(queryOf(visit), visit.language);
  if (problems.length > 0) throw new Failure("NOT_FOUND");
  const { merchantId, environment } = visit;
  return await sendCsv(visit, downloads, {
    ...paymentFile,
    ...ownerOf(context, visit, "payments"),
    load: (afterId) =>
      context.peers.payments.listPayments({
        ...{ merchantId, environment, limit: pageSize, afterId, withoutTotal: true },
        ...criteria,
      }),
  });
}

async function sendRefunds(context: ConsoleContext, downloads: Downloads, visit: MerchantVisit): Promise<FastifyReply> {
  const { problems, criteria } = readRefundFilters(queryOf(visit), visit.language);
  if (problems.length > 0) throw new Failure("NOT_FOUND");
  const { merchantId, environment } = visit;
  return await sendCsv(visit, downloads, {
    ...csvFileOf(refundColumns, ({ refunds }: ListRefundsResponse) => refunds),
    ...ownerOf(context, visit, "refunds"),
    load: (afterId) =>
      context.peers.payments.listRefunds({ merchantId, environment, limit: refundPageSize, afterId, ...criteria }),
  });
}

function ownerOf(context: ConsoleContext, { merchantId, base, request, reply }: MerchantVisit, list: string) {
  return {
    name: `${list}-${base.endsWith("/live") ? "live" : "sandbox"}`,
    owner: merchantId,
    assertStillMay: async () => admitMember(await admitPerson(context, request, reply), right),
  };
}

export const paymentFile = csvFileOf(paymentColumns, ({ payments }: ListPaymentsResponse) => payments);
