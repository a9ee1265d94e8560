// `tollbooth suspense …`: unexpected funds, which an operator refunds, accepts or closes.
import { type Suspense, SuspenseAction } from "#proto/payments/v1/operator_pb.ts";
import type { CommandInput, Commands, Row } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { environmentName, limitOption, readPages, timeText } from "../wire.ts";

const decisionOptions = {
  by: { value: "name", about: "your name or e-mail, stored with the row", needed: true },
  note: { value: "text", about: "the reason, stored with the row", needed: true },
} as const;

export const suspense: Commands = {
  list: {
    about: "lists open rows, oldest first, with the possible actions",
    options: { ...limitOption, all: { about: "includes accepted and closed rows" } },
    run: async (peers, input) => {
      const withClosed = input.has("all");
      const found = await readPages(input, async ({ pageSize, pageToken }) => {
        const answer = await peers.operations.listSuspense({ limit: pageSize, pageToken, withClosed });
        return { items: answer.items, nextPageToken: answer.nextPageToken };
      });
      return { rows: found.map(rowOf) };
    },
  },
  refund: {
    about: "refunds the remaining unexpected funds at the processor",
    args: ["funds"],
    options: decisionOptions,
    run: (peers, input) => resolve(peers, input, SuspenseAction.GIVE_BACK),
  },
  accept: {
    about:
      "books a second refund as the merchant's, or a second charge of the ordered amount as the unpaid payment's own",
    args: ["funds"],
    options: decisionOptions,
    run: (peers, input) => resolve(peers, input, SuspenseAction.TAKE),
  },
  close: {
    about:
      "moves the remaining amount to the account adjustments; ends a payment whose intent is lost or has another amount",
    args: ["funds"],
    options: decisionOptions,
    run: (peers, input) => resolve(peers, input, SuspenseAction.CLOSE),
  },
};

async function resolve(peers: OperatorPeers, input: CommandInput, action: SuspenseAction) {
  const decision = { suspenseId: input.arg("funds"), operator: input.text("by"), note: input.text("note") };
  const { item } = await peers.operations.resolveSuspense({ ...decision, action });
  const isPending = item?.state === "refunding";
  const remark = isPending ? "the refund is pending: check with `suspense list`" : "";
  return { rows: item ? [rowOf(item)] : [], remark };
}

const actionNames: { readonly [A in SuspenseAction]: string } = {
  [SuspenseAction.UNSPECIFIED]: "",
  [SuspenseAction.GIVE_BACK]: "refund",
  [SuspenseAction.TAKE]: "accept",
  [SuspenseAction.CLOSE]: "close",
};

function rowOf(item: Suspense): Row {
  const { id, kind, state, resolution, merchantId, environment, paymentId, refundId, connector, connectorRef } = item;
  const about = { merchant_id: merchantId, environment: environmentName(environment), payment_id: paymentId };
  const there = { refund_id: refundId, connector, connector_ref: connectorRef };
  const money = {
    amount: String(item.amount),
    returned: String(item.returnedAmount),
    closed: String(item.closedAmount),
    currency: item.currency,
  };
  const can = { can: item.actions.map((action) => actionNames[action] ?? ""), found_at: timeText(item.foundAt) };
  return { id, kind, state, resolution, ...money, ...about, ...there, ...can };
}
