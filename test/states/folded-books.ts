// The books of one payment in memory: reports are folded into them by the rules as flows/settle-payment.ts does it.
import type { Dispute } from "../../services/payments/rules/dispute.ts";
import { type Movement, postings } from "../../services/payments/rules/journal.ts";
import type { PaymentState } from "../../services/payments/rules/payment.ts";
import type { Refund } from "../../services/payments/rules/refund.ts";
import { applyUpdate, discrepancyOf, ownPart } from "../../services/payments/rules/settlement.ts";
import {
  type Claimant,
  type Funds,
  fundsAfter,
  type ReportedIntent,
} from "../../services/payments/rules/unexpected-funds.ts";
import { untouchedPayment } from "../harness/payments/untouched-payment.ts";

type Owner = Claimant & { readonly state: PaymentState };

export class FoldedBooks {
  readonly #journal: Movement[] = [];
  /** By intent. */
  readonly #funds = new Map<string, Funds>();
  readonly #refunds = new Map<string, Refund>();
  readonly #disputes = new Map<string, Dispute>();
  #payment: Owner;
  #count = 0;

  /** @param knows the intent that the payment has; empty: the first that is its own becomes it */
  constructor(amount: bigint, isCapturedLater: boolean, knows: string) {
    const captureMethod = isCapturedLater ? "manual" : "automatic";
    const state = { ...untouchedPayment, amount, captureMethod } as const;
    this.#payment = { id: "pay_1", connectorRef: knows, currency: "EUR", state };
  }

  get payment(): Owner {
    return this.#payment;
  }

  get funds(): readonly Funds[] {
    return [...this.#funds.values()];
  }

  apply(report: ReportedIntent): void {
    const discrepancy = discrepancyOf(this.#payment, report);
    const own = ownPart(this.#payment, report, discrepancy);
    if (own) this.#settle(own);
    const row = this.#funds.get(report.ref);
    const id = row?.id ?? `su_${++this.#count}`;
    const isOwn = report.ref === this.#payment.connectorRef;
    const known = { booked: isOwn ? this.#booked() : 0n, isRefundOpen: false };
    const update = fundsAfter({ payment: this.#payment, report, discrepancy, row, id, ...known });
    if (!update) return;
    this.#funds.set(report.ref, { ...update, id, currency: report.currency });
    this.#journal.push(...update.movements);
  }

  /** Debits above zero. */
  balance(account: string, journal: readonly Movement[] = this.#journal): bigint {
    return journal.reduce((sum, { kind, amount }) => {
      const { debit, credit } = postings[kind];
      return sum + (debit === account ? amount : 0n) - (credit === account ? amount : 0n);
    }, 0n);
  }

  #booked(): bigint {
    const own = this.#journal.filter(({ kind }) => kind !== "suspense_held" && kind !== "suspense_released");
    return this.balance("processor_clearing", own);
  }

  #settle(own: NonNullable<ReturnType<typeof ownPart>>): void {
    const { state } = this.#payment;
    const [refunds, disputes] = [[...this.#refunds.values()], [...this.#disputes.values()]];
    const fees = [{ effectiveFrom: new Date(0), basisPoints: 290n, fixed: 30n }];
    const books = { isDirect: false, state, refunds, disputes, fees };
    const settled = applyUpdate(books, { ...own, kind: "intent" }, "processor", (noun) => `${noun}_${++this.#count}`);
    for (const { refund } of settled.refunds) this.#refunds.set(refund.id, refund);
    for (const dispute of settled.disputes) this.#disputes.set(dispute.id, dispute);
    for (const id of settled.released) {
      const dispute = this.#disputes.get(id);
      if (dispute) this.#disputes.set(id, { ...dispute, released: true });
    }
    this.#journal.push(...settled.movements);
    this.#payment = { ...this.#payment, connectorRef: this.#payment.connectorRef || own.ref, state: settled.state };
  }
}
