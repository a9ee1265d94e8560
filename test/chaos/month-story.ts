// A month that is closed in the middle of a walk: later facts leave its books as they were. The facts
// are movements of a merchant of its own, since the services' clocks cannot be put back a month.
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { LedgerService } from "#proto/payments/v1/ledger_pb.ts";
import { LedgerRows } from "../harness/payments/ledger-rows.ts";
import type { WideRig } from "./wide-rig.ts";

export class MonthStory {
  readonly #rig: WideRig;
  readonly #books: LedgerRows;
  /** YYYY-MM */
  readonly #month: string;
  #hash = "";

  constructor(rig: WideRig) {
    this.#rig = rig;
    this.#books = new LedgerRows(rig.books.payments, {
      merchantId: newId("merchant"),
      environment: Environment.SANDBOX,
    });
    const now = new Date();
    this.#month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
  }

  async begin(): Promise<void> {
    await this.#books.movement("capture", { amount: 10_000n, fee: 290n, isOurs: false }, `${this.#month}-03T10:00:00Z`);
    await this.#books.movement("processor_fee", { amount: -500n, isOurs: false }, `${this.#month}-28T23:59:59.999Z`);
  }

  /** While the other stories play. */
  async close(): Promise<void> {
    this.#hash = (await this.#askClose()).hash;
    const now = new Date().toISOString();
    await this.#books.movement("processor_fee", { amount: -150n, isOurs: false }, `${this.#month}-20T08:00:00Z`, now);
  }

  /** One line per difference. */
  async differences(): Promise<string[]> {
    const { hash, currentHash } = await this.#askClose();
    if (this.#hash === "") return [`${this.#month} was not closed during the walk`];
    return hash === this.#hash && currentHash === hash ? [] : [`the books of ${this.#month} changed after their close`];
  }

  async #askClose() {
    const ledger = this.#rig.operators.payments.client(LedgerService);
    return await ledger.closeMonth({ month: this.#month, accepted: "a walk" }, { timeoutMs: 60_000 });
  }
}
