// The lists of a scripted processor, read in pages of two, and the rows that a test puts into them.
import { pino } from "pino";
import type { Database } from "#platform/database/database.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { BalanceReader } from "../../../services/payments/connectors/balance-reader.ts";
import type { ProcessorAccount } from "../../../services/payments/connectors/connector.ts";
import { readMovements } from "../../../services/payments/flows/read-movements.ts";
import type {
  ProcessorBalance,
  ProcessorMovement,
  ProcessorPayout,
} from "../../../services/payments/rules/movement.ts";

const outbox = new Outbox({ namespace: "test", source: "payments" });
const hourMs = 3_600_000;
const start = new Date("2026-03-30T12:00:00.000Z");
/** Hours after the start of every list. */
export const hoursIn = (hours: number) => new Date(start.getTime() + hours * hourMs);

export class ProcessorLists {
  readonly account: ProcessorAccount;
  movements: ProcessorMovement[] = [];
  payouts: ProcessorPayout[] = [];
  /** Refs by payout; absent: not assigned yet. */
  readonly lines = new Map<string, string[]>();
  balances: ProcessorBalance[] = [];
  failAfter = Number.POSITIVE_INFINITY;

  constructor(name: string, merchantId: string = newId("merchant")) {
    const owner = { merchantId, environment: Environment.SANDBOX, connector: "simulator" };
    this.account = {
      ...owner,
      id: `mco_${name}`,
      externalAccountId: name,
      surface: "embedded",
      credentials: {},
      refundsEnabled: true,
    };
  }

  get reader(): BalanceReader {
    const pageOf = <T>(items: readonly T[], after: string) => {
      if (this.failAfter-- <= 0) return { kind: "unknown", cause: new Error("silence") } as const;
      const from = Number(after || 0);
      const value = { items: items.slice(from, from + 2), next: from + 2 < items.length ? String(from + 2) : "" };
      return { kind: "succeeded", value } as const;
    };
    const newer = (since: Date | undefined, time: Date) => !since || time >= since;
    return {
      readMovements: async (_, since, after) =>
        pageOf(
          this.movements.filter((one) => newer(since, one.occurredAt)),
          after,
        ),
      readPayouts: async (_, since, after) =>
        pageOf(
          this.payouts.filter((one) => newer(since, one.createdAt)),
          after,
        ),
      readPayoutLines: async (_, ref, after) => {
        const lines = this.lines.get(ref);
        return lines ? pageOf(lines, after) : { kind: "pending", value: { items: [], next: "" } };
      },
      readBalance: async () => ({ kind: "succeeded", value: this.balances }),
    };
  }

  /** Reads all lists from the beginning. */
  async read(db: Database): Promise<void> {
    const cursor = { accountId: this.account.id, movementsUntil: undefined, payoutsUntil: undefined };
    await readMovements({ db, outbox, log: pino({ enabled: false }) }, this.reader, this.account, cursor);
  }
}

/** 10.00 EUR captured with a fee of 0.40. */
export function makeMovement(ref: string, change: Partial<ProcessorMovement> = {}): ProcessorMovement {
  const money = { type: "capture", amount: 1_000n, fee: 40n, currency: "EUR", isOurs: true } as const;
  return { ref, ...money, occurredAt: hoursIn(0), availableAt: hoursIn(48), ...change };
}

/** 9.60 EUR on their way. */
export function makePayout(ref: string, change: Partial<ProcessorPayout> = {}): ProcessorPayout {
  const money = {
    amount: 960n,
    currency: "EUR",
    status: "in_transit",
    createdAt: hoursIn(50),
    arrivesAt: hoursIn(72),
  } as const;
  return { ref, ...money, statementDescriptor: "SHOP", failureMessage: "", ...change };
}
