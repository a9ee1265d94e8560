// `tollbooth statements …`: differences between a processor's statement and our books, and findings of other checks of
// money, for operators to explain.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { StatementDifference } from "#proto/payments/v1/statement_pb.ts";
import { type Commands, type Row, UsageError } from "../command.ts";
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
  explain: {
    about: "closes an open difference that no later check will resolve; it opens again when either side changes",
    args: ["id"],
    options: {
      by: { value: "name", about: "your name or e-mail, stored with the row", needed: true },
      note: { value: "text", about: "the explanation, stored with the row", needed: true },
    },
    run: async (peers, input) => {
      const id = input.arg("id");
      if (!/^[1-9]\d{0,17}$/.test(id)) throw new UsageError("the id is the number in statements differences");
      const request = { id: BigInt(id), operator: input.text("by"), note: input.text("note") };
      const { difference } = await peers.statements.explainStatementDifference(request);
      return { rows: difference ? [rowOf(difference)] : [] };
    },
  },
};

function rowOf(difference: StatementDifference): Row {
  const { id, kind, object, ref, paymentId, ours, theirs, connectorAccountId } = difference;
  const times = { found_at: timeText(difference.foundAt), resolved_at: timeText(difference.resolvedAt) };
  const about = { connector_ref: ref, payment_id: paymentId, account: connectorAccountId };
  const explanation = { explained_by: difference.explainedBy, note: difference.note };
  return { id: String(id), kind, object, ...about, ours, theirs, ...times, ...explanation };
}
