// `tollbooth operations …`: calls to processors whose outcome nobody could prove, for people to end.
import { type Operation, Resolution } from "#proto/payments/v1/operator_pb.ts";
import { type Commands, type Row, UsageError } from "../command.ts";
import { environmentName, limitOption, readPages, timeText } from "../wire.ts";

const byOption = {
  by: { value: "name", about: "who does this: a name or an e-mail, kept in the history", needed: true },
} as const;

export const operations: Commands = {
  list: {
    about: "lists parked operations, oldest first",
    options: limitOption,
    run: async (peers, input) => {
      const found = await readPages(input, async ({ pageSize, pageToken }) => {
        const answer = await peers.operations.listParkedOperations({ limit: pageSize, pageToken });
        return { items: answer.operations, nextPageToken: answer.nextPageToken };
      });
      return { rows: found.map(rowOf) };
    },
  },
  show: {
    about: "what happened to an operation, oldest first",
    args: ["operation"],
    run: async (peers, input) => {
      const { operation, history } = await peers.operations.getOperation({ operationId: input.arg("operation") });
      const remark = operation ? `${operation.id}: ${operation.state}, ${operation.lastError || "no error"}` : "";
      return {
        rows: history.map(({ at, fact, operator, note }) => ({ at: timeText(at), fact, by: operator, note })),
        remark,
      };
    },
  },
  retry: {
    about: "asks the processor again, now and on the whole schedule",
    args: ["operation"],
    options: { ...byOption, note: { value: "text", about: "why" } },
    run: async (peers, input) => {
      const request = { operationId: input.arg("operation"), operator: input.text("by"), note: input.text("note") };
      const { operation } = await peers.operations.retryOperation(request);
      return { rows: operation ? [rowOf(operation)] : [] };
    },
  },
  resolve: {
    about: "ends an operation by what was found out at the processor, which is asked once more",
    args: ["operation", "happened|never"],
    options: {
      ...byOption,
      proof: { value: "text", about: "how it is known, at least 10 characters, kept in the history", needed: true },
      ref: { value: "id", about: "the object's id at the processor; needed when it happened" },
    },
    run: async (peers, input) => {
      const { operation } = await peers.operations.resolveOperation({
        operationId: input.arg("operation"),
        resolution: resolutionOf(input.arg("happened|never")),
        connectorRef: input.text("ref"),
        operator: input.text("by"),
        proof: input.text("proof"),
      });
      return { rows: operation ? [rowOf(operation)] : [] };
    },
  },
};

function resolutionOf(outcome: string): Resolution {
  if (outcome === "happened") return Resolution.HAPPENED;
  if (outcome === "never") return Resolution.NEVER_HAPPENED;
  throw new UsageError("an operation happened or never happened: say happened or never");
}

function rowOf(operation: Operation): Row {
  const { id, kind, state, merchantId, environment, paymentId, connector, reference, amount, currency } = operation;
  const about = { merchant_id: merchantId, environment: environmentName(environment), payment_id: paymentId };
  const money = { amount: String(amount), currency };
  const last = { tries: operation.tries, last_error: operation.lastError, created_at: timeText(operation.createdAt) };
  return { id, kind, state, ...about, ...money, connector, reference, ...last };
}
