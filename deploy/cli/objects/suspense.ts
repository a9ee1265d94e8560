// `tollbooth suspense …`: what processors hold or did in our name that nobody asked for, for people to end.
import { type Suspense, SuspenseAction } from "#proto/payments/v1/operator_pb.ts";
import type { Commands, Given, Row } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { environmentName, limitOption, pages, timeText } from "../wire.ts";

const wordOptions = {
  by: { value: "name", about: "who does this: a name or an e-mail, kept with the item", needed: true },
  note: { value: "text", about: "why, kept with the item", needed: true },
} as const;

export const suspense: Commands = {
  list: {
    about: "lists what is open, oldest first, with what can be done about each",
    options: { ...limitOption, all: { about: "closed items too" } },
    run: async (peers, given) => {
      const withClosed = given.has("all");
      const found = await pages(given, async ({ pageSize, pageToken }) => {
        const answer = await peers.operations.listSuspense({ limit: pageSize, pageToken, withClosed });
        return { items: answer.items, nextPageToken: answer.nextPageToken };
      });
      return { rows: found.map(rowOf) };
    },
  },
  "give-back": {
    about: "refunds at the processor what is left of a charge that nobody asked for; may be repeated",
    words: ["item"],
    options: wordOptions,
    run: (peers, given) => resolve(peers, given, SuspenseAction.GIVE_BACK),
  },
  take: {
    about: "books a second refund as the merchant's own",
    words: ["item"],
    options: wordOptions,
    run: (peers, given) => resolve(peers, given, SuspenseAction.TAKE),
  },
  close: {
    about:
      "ends the payment of an intent that the processor lost, or of one with another amount on which nothing was paid",
    words: ["item"],
    options: wordOptions,
    run: (peers, given) => resolve(peers, given, SuspenseAction.CLOSE),
  },
};

async function resolve(peers: OperatorPeers, given: Given, action: SuspenseAction) {
  const word = { suspenseId: given.word("item"), operator: given.text("by"), note: given.text("note") };
  const { item } = await peers.operations.resolveSuspense({ ...word, action });
  const isOpen = item?.state === "open";
  const remark = isOpen ? "open until the processor says that nothing is left; look again with `suspense list`" : "";
  return { rows: item ? [rowOf(item)] : [], remark };
}

const actionNames: { readonly [A in SuspenseAction]: string } = {
  [SuspenseAction.UNSPECIFIED]: "",
  [SuspenseAction.GIVE_BACK]: "give-back",
  [SuspenseAction.TAKE]: "take",
  [SuspenseAction.CLOSE]: "close",
};

function rowOf(item: Suspense): Row {
  const { id, kind, state, resolution, merchantId, environment, paymentId, refundId, connector, connectorRef } = item;
  const about = { merchant_id: merchantId, environment: environmentName(environment), payment_id: paymentId };
  const there = { refund_id: refundId, connector, connector_ref: connectorRef };
  const money = { amount: String(item.amount), returned: String(item.returnedAmount), currency: item.currency };
  const can = { can: item.actions.map((action) => actionNames[action] ?? ""), found_at: timeText(item.foundAt) };
  return { id, kind, state, resolution, ...money, ...about, ...there, ...can };
}
