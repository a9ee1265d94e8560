// `tollbooth statements …`: what a processor's list and our books say differently, for people to explain.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { StatementDifference } from "#proto/payments/v1/statement_pb.ts";
import type { Commands, Row } from "../command.ts";
import { limitOption, readPages, timeOf, timeText } from "../wire.ts";

const dayMs = 86_400_000;

export const statements: Commands = {
  differences: {
    about: "lists what still differs, newest first",
    options: {
      ...limitOption,
      account: { value: "mco_…", about: "of one account at a processor" },
      all: { about: "also what a later match found to agree" },
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
    about: "compares an account's statement with the books now, a day at most; takes in what we missed",
    args: ["account"],
    options: {
      from: { value: "time", about: "RFC 3339, included; a day before --to unless given" },
      to: { value: "time", about: "RFC 3339, not included; now unless given" },
    },
    run: async (peers, input) => {
      const to = timeOf(input, "to") ?? new Date();
      const from = timeOf(input, "from") ?? new Date(to.getTime() - dayMs);
      const connectorAccountId = input.arg("account");
      const period = { from: timestampFromDate(from), to: timestampFromDate(to) };
      const found = await peers.statements.matchStatement({ connectorAccountId, ...period });
      const { lines, imported, differences, resolved } = found;
      const remark = differences > 0 ? `look at them: statements differences --account ${connectorAccountId}` : "";
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
