// The books of one payment in memory: reports are folded into them by the rules as flows/settle-payment.ts does it.
import type { Dispute } from "../../services/payments/rules/dispute.ts";
import { type Movement, postings } from "../../services/payments/rules/journal.ts";
import { type Claimant, partReport, type ReportedIntent } from "../../services/payments/rules/part-report.ts";
import type { Refund } from "../../services/payments/rules/refund.ts";
import { settle } from "../../services/payments/rules/settlement.ts";
import { type ItemChange, type KnownItem, setAside } from "../../services/payments/rules/suspense.ts";
import { untouchedPayment } from "../harness/payments/untouched-payment.ts";

type HeldItem = KnownItem & { readonly connectorRef: string };

export class FoldedBooks {
  readonly #journal: Movement[] = [];
  readonly #items = new Map<string, HeldItem>();
  readonly #refunds = new Map<string, Refund>();
  readonly #disputes = new Map<string, Dispute>();
  #payment: Claimant;
  #count = 0;

  /** @param knows the intent that the payment has; empty: the first that is its own becomes it */
  constructor(amount: bigint, isCapturedLater: boolean, knows: string) {
    const captureMethod = isCapturedLater ? "manual" : "automatic";
    const state = { ...untouchedPayment, amount, captureMethod } as const;
    this.#payment = { id: "pay_1", connectorRef: knows, currency: "EUR", state };
  }

  get payment(): Claimant {
    return this.#payment;
  }

  get items(): readonly HeldItem[] {
    return [...this.#items.values()];
  }

  hear(report: ReportedIntent): void {
    const { other, own } = partReport(this.#payment, report);
    if (own) this.#settle(own);
    const about = this.items.filter(({ connectorRef }) => connectorRef === report.ref);
    const newId = () => `su_${++this.#count}`;
    for (const change of setAside(this.#payment, report, other, about, newId).changes) this.#change(change);
  }

  /** Debits above zero. */
  balance(account: string): bigint {
    return this.#journal.reduce((sum, { kind, amount }) => {
      const { debit, credit } = postings[kind];
      return sum + (debit === account ? amount : 0n) - (credit === account ? amount : 0n);
    }, 0n);
  }

  #settle(own: ReportedIntent): void {
    const { state } = this.#payment;
    const [refunds, disputes] = [[...this.#refunds.values()], [...this.#disputes.values()]];
    const fees = [{ effectiveFrom: new Date(0), basisPoints: 290n, fixed: 30n }];
    const books = { isDirect: false, state, refunds, disputes, fees };
    const settled = settle(books, { ...own, kind: "intent" }, "processor", (noun) => `${noun}_${++this.#count}`);
    for (const { refund } of settled.refunds) this.#refunds.set(refund.id, refund);
    for (const dispute of settled.disputes) this.#disputes.set(dispute.id, dispute);
    for (const id of settled.released) {
      const dispute = this.#disputes.get(id);
      if (dispute) this.#disputes.set(id, { ...dispute, released: true });
    }
    this.#journal.push(...settled.movements);
    this.#payment = { ...this.#payment, connectorRef: this.#payment.connectorRef || own.ref, state: settled.state };
  }

  #change({ id, kind, connectorRef, currency, holding, movements, move }: ItemChange): void {
    const fresh = { id, kind, connectorRef, currency, paymentId: "pay_1", state: "open", resolution: "" } as const;
    const known = this.#items.get(id) ?? { ...fresh, amount: 0n, returned: 0n, paidBy: "", kept: 0n };
    const end = move === undefined || move === "reopened" ? "" : move;
    const state = end === "" ? "open" : "closed";
    const ended = move === undefined ? {} : { state, resolution: end };
    this.#items.set(id, { ...known, ...holding, ...(ended as Pick<KnownItem, "state" | "resolution">) });
    this.#journal.push(...movements);
  }
}
