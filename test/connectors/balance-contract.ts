// The tests of the port's contract about an account's money, registered by contract.ts: movements, payouts and the
// balance.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import type { BalanceReader, ListPage } from "../../services/payments/connectors/balance-reader.ts";
import {
  type Connector,
  type IntentReport,
  isKnown,
  type ProcessorAccount,
  type ProcessorAnswer,
} from "../../services/payments/connectors/connector.ts";
import type { ProcessorMovement } from "../../services/payments/rules/movement.ts";
import type { suite } from "../harness/suite.ts";

/** A processor's actions with the account's money. */
export interface BalanceActions {
  /** Raises the balance this many times, without a payment. */
  raise(times: number): Promise<void>;
  /** Pays out all that is in no payout, and lists it. @returns the payout's id there */
  payOut(): Promise<string>;
}

/** The part of a rig that these tests need. */
interface BalanceRig {
  readonly connector: Connector;
  readonly account: ProcessorAccount;
  readonly unreachable: Connector;
  /** Absent: the connector has no balance. */
  readonly money?: BalanceActions;
  dispute(ref: string, status: "needs_response"): Promise<string>;
}

/** More than a page has. */
const raises = 600;

/** @param paid makes a paid intent */
export function balanceContract(
  test: ReturnType<typeof suite>,
  rigNow: () => BalanceRig,
  paid: (members: { readonly surface: string }) => Promise<IntentReport>,
): void {
  const withBalance = (
    name: string,
    prove: (reader: BalanceReader, money: BalanceActions, rig: BalanceRig) => Promise<void>,
  ) =>
    test(name, async () => {
      const rig = rigNow();
      assert.equal(rig.connector.balance === undefined, rig.money === undefined);
      if (rig.connector.balance && rig.money) await prove(rig.connector.balance, rig.money, rig);
    });
  const movements = (reader: BalanceReader, since?: Date) =>
    itemsOf((after) => reader.readMovements(rigNow().account, since, after));

  withBalance(
    "each capture, refund and dispute moves the balance once, with our ids and the fee",
    async (reader, _money, rig) => {
      const { connector, account } = rig;
      for (const surface of connector.surfaces) {
        const [payment, disputed] = [await paid({ surface }), await paid({ surface })];
        const order = { intentRef: payment.ref, reference: newId("refund"), amount: 50n, currency: payment.currency };
        const refund = valueIn(await connector.createRefund(account, { ...order, reason: "" }, newId("operation")));
        const dispute = await rig.dispute(disputed.ref, "needs_response");
        const all = await movements(reader);
        const of = ({ ref }: IntentReport) => all.filter(({ intentRef }) => intentRef === ref).toSorted(byAmount);
        const read = (moved: readonly ProcessorMovement[]) =>
          moved.map(({ type, objectRef, ...rest }) => [type, (rest.source ?? rest).amount, objectRef, rest.fee > 0n]);
        const capture = ["capture", 1_050n, undefined, true];
        assert.deepEqual(read(of(payment)), [["refund", -50n, refund.ref, false], capture], surface);
        assert.deepEqual(read(of(disputed)), [["dispute", -1_050n, dispute, true], capture], surface);
        for (const moved of [...of(payment), ...of(disputed)]) {
          assert.equal((moved.source ?? moved).currency, "EUR");
          assert.ok(moved.isOurs && moved.availableAt >= moved.occurredAt);
        }
      }
    },
  );

  withBalance("movements are read page by page, each once, and from a time on", async (reader, money) => {
    await money.raise(raises);
    const all = await movements(reader);
    assert.ok(all.filter(({ type }) => type === "adjustment").length >= raises);
    assert.equal(new Set(all.map(({ ref }) => ref)).size, all.length, "each once");
    const day = 86_400_000;
    assert.equal((await movements(reader, new Date(Date.now() - day))).length, all.length);
    assert.deepEqual(await movements(reader, new Date(Date.now() + day)), []);
  });

  withBalance("a payout is the sum of its movements, and the balance the sum of all", async (reader, money, rig) => {
    await money.raise(raises);
    const ref = await money.payOut();
    const payouts = await itemsOf((after) => reader.readPayouts(rig.account, undefined, after));
    const [payout, ...others] = payouts.filter((each) => each.ref === ref);
    assert.ok(payout && others.length === 0);
    assert.ok(payout.amount > 0n && payout.arrivesAt >= payout.createdAt);
    const all = await movements(reader);
    const lines = await itemsOf((after) => reader.readPayoutLines(rig.account, ref, after));
    const contained = all.filter((moved) => lines.includes(moved.ref));
    assert.deepEqual([contained.length, new Set(lines).size], [lines.length, lines.length], "each line is a movement");
    assert.equal(netOf(contained), payout.amount);
    const own = all.filter((moved) => moved.type === "payout" && moved.objectRef === ref);
    assert.deepEqual(
      own.map(({ amount, ref: id }) => [amount, lines.includes(id)]),
      [[-payout.amount, false]],
    );
    for (const { currency, available, pending } of valueIn(await reader.readBalance(rig.account))) {
      assert.equal(netOf(all.filter((moved) => moved.currency === currency)), available + pending, currency);
    }
  });

  withBalance("an unknown payout is not found, and what was not read is unknown", async (reader, _money, rig) => {
    assert.equal((await reader.readPayoutLines(rig.account, "po_unknown", "")).kind, "not_found");
    const { balance } = rig.unreachable;
    assert.equal((await balance?.readMovements(rig.account, undefined, ""))?.kind, "unknown");
    assert.equal((await balance?.readPayouts(rig.account, undefined, ""))?.kind, "unknown");
    assert.equal((await balance?.readPayoutLines(rig.account, "po_1", ""))?.kind, "unknown");
    assert.equal((await balance?.readBalance(rig.account))?.kind, "unknown");
  });
}

/** All pages of a list. */
export async function itemsOf<T>(
  read: (after: string) => Promise<ProcessorAnswer<ListPage<T>>>,
): Promise<readonly T[]> {
  const items: T[] = [];
  let after = "";
  do {
    const page = valueIn(await read(after));
    items.push(...page.items);
    after = page.next;
  } while (after !== "");
  return items;
}

function netOf(movements: readonly ProcessorMovement[]): bigint {
  return movements.reduce((sum, { amount, fee }) => sum + amount - fee, 0n);
}

function byAmount(a: ProcessorMovement, b: ProcessorMovement): number {
  return Number(a.amount - b.amount);
}

function valueIn<T>(answer: ProcessorAnswer<T>): T {
  if (isKnown(answer)) return answer.value;
  throw new Error(`${answer.kind}: ${answer.kind === "declined" ? answer.message : String(answer.cause)}`);
}
