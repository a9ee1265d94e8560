// Reads the simulator's account: movements of the balance, payouts and the balance itself.
import Type from "typebox";
import { isId } from "#platform/values/id.ts";
import type { ProcessorBalance, ProcessorMovement, ProcessorPayout } from "../../rules/movement.ts";
import type { BalanceReader, ListPage } from "../balance-reader.ts";
import type { ProcessorAccount } from "../connector.ts";
import type { ProcessorHttp } from "../http.ts";
import { queryAnswer } from "./answers.ts";
import { dateIn, MaybeText, oneOf, shapeOf, Text } from "./objects.ts";

const Amount = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
const listOf = <T extends Type.TSchema>(row: T) => shapeOf(Type.Object({ data: Type.Array(row), next: MaybeText }));

const Movements = listOf(
  Type.Object({
    id: Text,
    type: oneOf(
      "capture",
      "refund",
      "refund_failure",
      "processor_fee",
      "dispute",
      "dispute_reversal",
      "adjustment",
      "payout",
      "payout_failure",
      "reserve",
      "release",
    ),
    amount: Amount,
    fee: Amount,
    currency: Text,
    intent: MaybeText,
    reference: MaybeText,
    object: MaybeText,
    created_at: Text,
    available_at: Text,
  }),
);
const Payouts = listOf(
  Type.Object({
    id: Text,
    amount: Amount,
    currency: Text,
    status: oneOf("pending", "in_transit", "paid", "failed", "returned"),
    failure_message: MaybeText,
    statement_descriptor: Text,
    created_at: Text,
    arrives_at: Text,
  }),
);
const Lines = listOf(Type.Object({ id: Text }));
const Balances = shapeOf(
  Type.Object({
    data: Type.Array(Type.Object({ currency: Text, available: Amount, pending: Amount, reserved: Amount })),
  }),
);

export type Get = (account: ProcessorAccount, path: string) => ReturnType<ProcessorHttp["call"]>;

export function simulatorBalance(get: Get): BalanceReader {
  return {
    readMovements: async (account, since, after) =>
      queryAnswer(await get(account, `/api/movements?${pageQuery(since, after)}`), movementsIn),
    readPayouts: async (account, since, after) =>
      queryAnswer(await get(account, `/api/payouts?${pageQuery(since, after)}`), payoutsIn),
    readPayoutLines: async (account, ref, after) => {
      const path = `/api/payouts/${encodeURIComponent(ref)}/movements?${pageQuery(undefined, after)}`;
      return queryAnswer(await get(account, path), linesIn);
    },
    readBalance: async (account) => queryAnswer(await get(account, "/api/balance"), balancesIn),
  };
}

function pageQuery(since: Date | undefined, after: string): URLSearchParams {
  return new URLSearchParams({
    limit: "500",
    ...(since && { since: since.toISOString() }),
    ...(after !== "" && { after }),
  });
}

function movementsIn(body: unknown): ListPage<ProcessorMovement> {
  const { data, next } = Movements.parse(body);
  const items = data.map(({ id, type, amount, fee, currency, intent, reference, object, ...times }) => ({
    ref: id,
    type,
    amount: BigInt(amount),
    fee: BigInt(fee),
    currency,
    isOurs: reference !== null && isId("payment", reference),
    ...(intent !== null && { intentRef: intent }),
    ...(object !== null && { objectRef: object }),
    occurredAt: dateIn(times.created_at),
    availableAt: dateIn(times.available_at),
  }));
  return { items, next: next ?? "" };
}

function payoutsIn(body: unknown): ListPage<ProcessorPayout> {
  const { data, next } = Payouts.parse(body);
  const items = data.map((payout) => ({
    ref: payout.id,
    amount: BigInt(payout.amount),
    currency: payout.currency,
    status: payout.status,
    createdAt: dateIn(payout.created_at),
    arrivesAt: dateIn(payout.arrives_at),
    statementDescriptor: payout.statement_descriptor,
    failureMessage: payout.failure_message ?? "",
  }));
  return { items, next: next ?? "" };
}

function linesIn(body: unknown): ListPage<string> {
  const { data, next } = Lines.parse(body);
  return { items: data.map(({ id }) => id), next: next ?? "" };
}

function balancesIn(body: unknown): readonly ProcessorBalance[] {
  return Balances.parse(body).data.map(({ currency, available, pending, reserved }) => ({
    currency,
    available: BigInt(available),
    pending: BigInt(pending),
    reserved: BigInt(reserved),
  }));
}
