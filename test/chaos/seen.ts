// Answers that clients got during a run: each is a promise that the books must keep.
import type { Answer } from "../harness/api.ts";
import type { FaultName } from "./fault-table.ts";

/** A refund as a client asked for it: once, or many times under one key. */
export interface RefundRequest {
  /** Empty: without a key, so that each call is a refund of its own. */
  readonly key: string;
  /** Answers with 201. */
  readonly answers: Answer[];
}

/** A dispute as a client answered or conceded it, once or many times under one key. */
export interface AnsweredDispute {
  readonly id: string;
  readonly kind: "evidence" | "accept";
  /** Answers with 200. */
  readonly answers: Answer[];
}

export interface SeenPayment {
  readonly paymentId: string;
  /** Empty: a payment by token. */
  readonly sessionId: string;
  /** The processor's id of the intent; of Stripe's own page until its buyer begins. */
  intentId: string;
  readonly amount: number;
  readonly currency: string;
  /** A confirm was answered with `completed`. */
  reportedPaid: boolean;
  /** The processor's form or a read of the payment reported that it is paid. */
  knownPaid: boolean;
  /** An expiry was answered with `expired`. */
  reportedExpired: boolean;
  readonly refunds: RefundRequest[];
  /** It is captured later, by its merchant. */
  readonly isHeld?: boolean;
  /** A capture was answered with this amount. */
  reportedCaptured?: number | undefined;
  /** A cancellation was answered with `canceled`. */
  reportedCanceled?: boolean;
  /** Absent: none. */
  answeredDisputes?: AnsweredDispute[];
  /** Faults of the processor that invalidate earlier answers: returned, lost, doubled … */
  readonly mishaps?: ReadonlySet<FaultName>;
  /** Its story's name in the run. */
  readonly story: string;
}

export class Seen {
  readonly payments = new Map<string, SeenPayment>();
  /** Answers that no client should ever get. */
  readonly offences: string[] = [];
  operations = 0;
  /** Sessions and payments by token that may exist: one per key and one per call without a key. */
  creations = 0;
  /** Payments reported as paid to a client: the least total of lists. */
  paidCount = 0;

  /** Forgets everything, for another run on the same books. @param made payments that there are */
  restart(made: number): void {
    this.payments.clear();
    this.offences.length = 0;
    this.operations = 0;
    this.paidCount = 0;
    this.creations = made;
  }

  /** Counts one operation of the driver. */
  count(): void {
    this.operations += 1;
  }

  /** A 500, or anything else that is not in the contract for this call. */
  offence(story: string, what: string): void {
    if (this.offences.length < offencesMax) this.offences.push(`${story}: ${what}`);
  }
}

const offencesMax = 100; // more than anybody reads
