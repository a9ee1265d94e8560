// `tollbooth statements …`: differences between a processor's statement and our books, for operators to explain.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { StatementDifference } from "#proto/payments/v1/statement_pb.ts";
import type { Commands, Row } from "../command.ts";
import { limitOption, readPages, timeOf, timeText } from "../wire.ts";

const dayMs = 86_400_000;

export const statements: Commands = {
  differences: {
    about: "lists open differences, newest first",
    options: {
      ...limitOption,
      account: { value: "mco_…", about: "one processor account" },
      all: { about: "includes differences that a later match resolved" },
    },
    run: async (peers, input) => {
      const of = { connectorAccountId: input.text("account"), includeResolved: input.has("all") };
      const found = await readPages(input, async ({ pageSize, pageToken }) => {
        const page = { limit: pageSize, beforeId: BigInt(pageToken || 0) };
        const { differences } = await peers.statements.listStatementDifferences({ ...of, ...page });
        const last = differences.length === pageSize ? differences.at(-1) : undefined;
        return { items: differences, nextPageToken: String(last?.id ?? "") };
      });
      return { rows: found.map(rowOf) };
    },
  },
  match: {
    about: "compares an account's statement with the books now, for at most a day, and applies missed events",
    args: ["account"],
    options: {
      from: { value: "time", about: "RFC 3339, inclusive; default: a day before --to" },
      to: { value: "time", about: "RFC 3339, exclusive; default: now" },
    },
    run: async (peers, input) => {
      const to = timeOf(input, "to") ?? new Date();
      const from = timeOf(input, "from") ?? new Date(to.getTime() - dayMs);
      const connectorAccountId = input.arg("account");
      const period = { from: timestampFromDate(from), to: timestampFromDate(to) };
      const found = await peers.statements.matchStatement({ connectorAccountId, ...period });
      const { lines, imported, differences, resolved } = found;
      const remark = differences > 0 ? `see statements differences --account ${connectorAccountId}` : "";
      return { rows: [{ lines, taken_in: imported, differences, resolved }], remark };
    },
  },
};

function rowOf(difference: StatementDifference): Row {
  const { id, kind, object, ref, paymentId, ours, theirs, connectorAccountId } = difference;
  const times = { found_at: timeText(difference.foundAt), resolved_at: timeText(difference.resolvedAt) };
  const about = { connector_ref: ref, payment_id: paymentId, account: connectorAccountId };
  return { id: String(id), kind, object, ...about, ours, theirs, ...times };
}
