// `tollbooth operations …`: processor calls with an unknown outcome, for operators to resolve.
import { type Operation, Resolution } from "#proto/payments/v1/operator_pb.ts";
import { type Commands, type Row, UsageError } from "../command.ts";
import { environmentName, limitOption, readPages, timeText } from "../wire.ts";

const byOption = {
  by: { value: "name", about: "your name or e-mail, stored in the history", needed: true },
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
    about: "shows the history of an operation, oldest first",
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
    about: "queries the processor again, now and on the full schedule",
    args: ["operation"],
    options: { ...byOption, note: { value: "text", about: "why" } },
    run: async (peers, input) => {
      const request = { operationId: input.arg("operation"), operator: input.text("by"), note: input.text("note") };
      const { operation } = await peers.operations.retryOperation(request);
      return { rows: operation ? [rowOf(operation)] : [] };
    },
  },
  resolve: {
    about: "resolves an operation by evidence from the processor, which is queried again first",
    args: ["operation", "happened|never"],
    options: {
      ...byOption,
      proof: { value: "text", about: "the evidence, at least 10 characters, stored in the history", needed: true },
      ref: { value: "id", about: "the object's id at the processor; required for happened" },
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
  throw new UsageError("the outcome must be happened or never");
}

function rowOf(operation: Operation): Row {
  const { id, kind, state, merchantId, environment, paymentId, connector, reference, amount, currency } = operation;
  const about = { merchant_id: merchantId, environment: environmentName(environment), payment_id: paymentId };
  const money = { amount: String(amount), currency };
  const last = { tries: operation.tries, last_error: operation.lastError, created_at: timeText(operation.createdAt) };
  return { id, kind, state, ...about, ...money, connector, reference, ...last };
}
