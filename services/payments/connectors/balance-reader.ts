// The part of the port that reads an account's money: movements of the balance, payouts and the present balance.
import type { ProcessorBalance, ProcessorMovement, ProcessorPayout } from "../rules/movement.ts";
import type { ProcessorAccount, ProcessorAnswer } from "./answer.ts";

/** A page of a list in a stable order. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** Goes into `after`; empty: the last page. */
  readonly next: string;
}

export interface BalanceReader {
  /** All movements since a time of the processor, also payouts' own; undefined: since the beginning. */
  readMovements(
    account: ProcessorAccount,
    since: Date | undefined,
    after: string,
  ): Promise<ProcessorAnswer<ListPage<ProcessorMovement>>>;
  /** Payouts that were created since a time of the processor; undefined: all. */
  readPayouts(
    account: ProcessorAccount,
    since: Date | undefined,
    after: string,
  ): Promise<ProcessorAnswer<ListPage<ProcessorPayout>>>;
  /** Refs of the movements in a payout, without the payout's own; pending: the processor has not assigned them yet. */
  readPayoutLines(account: ProcessorAccount, ref: string, after: string): Promise<ProcessorAnswer<ListPage<string>>>;
  readBalance(account: ProcessorAccount): Promise<ProcessorAnswer<readonly ProcessorBalance[]>>;
}
