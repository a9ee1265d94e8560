// payments.v1.StatementService, in proto order.
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import { invalidField, requireFound } from "#platform/values/failure.ts";
import type { StatementService } from "#proto/payments/v1/statement_pb.ts";
import { hasStatement, matchStatement } from "../flows/match-statement.ts";
import type { VerifyDeps } from "../flows/verify-intent.ts";
import { explainDifference, listDifferences, type StoredDifference } from "../store/processor/statements.ts";

const periodMaxMs = 86_400_000;

export function statementRpc(deps: VerifyDeps): ServiceImpl<typeof StatementService> {
  return {
    listStatementDifferences: async ({ connectorAccountId, includeResolved, limit, beforeId }) => {
      const filter = { accountId: connectorAccountId, openOnly: !includeResolved };
      const differences = await listDifferences(deps.db, filter, { limit, beforeId });
      return { differences: differences.map(toDifference) };
    },
    matchStatement: async ({ connectorAccountId, from, to }) => {
      const period = fromPeriod(from, to);
      const account = await deps.accounts.byId(connectorAccountId);
      if (!hasStatement(deps.connectors.get(account.connector))) {
        throw invalidField("connector_account_id", "belongs to a connector without a statement");
      }
      return await matchStatement(deps, account, period);
    },
    explainStatementDifference: async ({ id, operator, note }) => {
      return { difference: toDifference(requireFound(await explainDifference(deps.db, id, { operator, note }))) };
    },
  };
}

/** @throws Failure INVALID_BODY */
export function fromPeriod(from: Timestamp | undefined, to: Timestamp | undefined): { from: Date; to: Date } {
  if (!from || !to) throw invalidField(from ? "to" : "from", "is required");
  const period = { from: timestampDate(from), to: timestampDate(to) };
  const lengthMs = period.to.getTime() - period.from.getTime();
  if (lengthMs <= 0 || lengthMs > periodMaxMs) throw invalidField("to", "must be after from, by at most a day");
  return period;
}

function toDifference(found: StoredDifference) {
  return { ...messageFields(found), id: BigInt(found.id) };
}
