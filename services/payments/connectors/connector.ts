// The port to a card processor. A connector speaks one processor's API and answers in five ways; whatever it cannot
// prove is unknown, and unknown is never failed.
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { DisputeReport } from "../rules/dispute.ts";
import type { EvidenceContent } from "../rules/evidence.ts";
import type { FailureNames } from "../rules/failure-code.ts";
import type { CaptureMethod, IntentFact } from "../rules/payment.ts";
import type { RefundReport } from "../rules/refund.ts";
import type { StatementLine } from "../rules/statement.ts";

// Parts of the port that rules read.
export type { DisputeReport, RefundReport };

/** A merchant's account at the processor, with what is needed to act on it. */
export interface ProcessorAccount {
  /** `mco_…`. */
  readonly id: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly connector: string;
  readonly externalAccountId: string;
  readonly surface: string;
  /** Names are the connector's own. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly refundsEnabled: boolean;
}

/** What came of a call. `T` is what the processor then knows. */
export type ProcessorAnswer<T> =
  /** It is done. */
  | { readonly kind: "succeeded"; readonly value: T }
  /** It is accepted and will be decided later. */
  | { readonly kind: "pending"; readonly value: T }
  /** The processor refused for good. */
  | { readonly kind: "declined"; readonly code: DeclineCode; readonly message: string }
  /**
   * To a command: this call surely did nothing, because it never left or our credentials were refused. It says nothing
   * of others.
   */
  | { readonly kind: "not_sent"; readonly cause: unknown }
  /**
   * To a question: the processor has nothing of it now, by a list that is ordered and complete. `at` is the processor's
   * own time of the answer; undefined: it did not say. It proves nothing about a call that may still be under way
   * there.
   */
  | { readonly kind: "not_found"; readonly at: Date | undefined; readonly cause: unknown }
  /**
   * It may have happened: every 5xx, 408, 409, 425, 429, a broken connection and silence. `resumeAfter`: a search that
   * was too long for one call goes on from here.
   */
  | { readonly kind: "unknown"; readonly cause: unknown; readonly resumeAfter?: string };

/** Answers that bring what the processor knows. */
export type KnownAnswer<T> = Extract<ProcessorAnswer<T>, { readonly kind: "succeeded" | "pending" }>;

/** True when the answer brings what the processor knows. */
export function isKnown<A extends { readonly kind: string }>(
  answer: A,
): answer is Extract<A, { readonly kind: "succeeded" | "pending" }> {
  return answer.kind === "succeeded" || answer.kind === "pending";
}

/**
 * Refusals that flows tell apart; everything else is `refused`. `amount_not_accepted` and `return_url_missing` are
 * about the order itself: the same order will never be taken.
 */
export type DeclineCode =
  | "currency_not_accepted"
  | "not_capturable"
  | "not_refundable"
  | "amount_too_large"
  | "not_cancelable"
  | "unknown_payment_method"
  | "not_answerable"
  | "evidence_not_accepted"
  | "amount_not_accepted"
  | "return_url_missing"
  | "refused";

/** What the processor knows about an intent. */
export interface IntentReport {
  readonly ref: string;
  /** Our payment id, as we gave it. */
  readonly reference: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
  /** As it was ordered; absent: the processor does not tell. */
  readonly captureMethod?: CaptureMethod;
  /** The how-manieth of its payment, after pages that ended; absent: the first. */
  readonly renewal?: number;
  /** In the order in which they happened. */
  readonly facts: readonly IntentFact[];
  readonly refunds: readonly RefundReport[];
  readonly disputes: readonly DisputeReport[];
  /** Ids of what the processor calls refunds and only let go of what was never captured. Absent: none. */
  readonly releases?: readonly string[];
  /**
   * Its page or client secret has come to its end, and nobody has paid, is paying or can pay it any more: another
   * intent may take its place. Such an end is no `intent_canceled`. Absent: it has not.
   */
  readonly pageEndedAt?: Date;
  /** The list of what it has forgotten does not show the event yet by which was asked: attempts may be missing. */
  readonly isBehind?: true;
}

export interface StatementPeriod {
  readonly from: Date;
  /** Not included. */
  readonly to: Date;
}

export interface StatementPage {
  readonly lines: readonly StatementLine[];
  /** Empty: there is no more. */
  readonly next: string;
}

/** What the buyer's browser needs (docs/contract.md §4). */
export interface Mount {
  readonly kind: "element" | "frame" | "redirect";
  readonly publishableKey: string;
  readonly clientSecret: string;
  readonly scriptUrl: string;
  readonly frameUrl: string;
  readonly redirectUrl: string;
  /** When the processor says that it ends; absent: it does not. A hint when to ask, never a proof. */
  readonly expiresAt?: Date;
}

export interface CreatedIntent {
  readonly report: IntentReport;
  readonly mount: Mount;
}

export interface IntentOrder {
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly description: string;
  readonly returnUrl: string;
  readonly surface: string;
  readonly captureMethod: CaptureMethod;
  /** What is bought; together they are the amount, or there are none. A processor that cannot show them is not told. */
  readonly lineItems: readonly OrderLine[];
  /** The how-manieth of its payment, after pages that ended; absent: the first. */
  readonly renewal?: number;
}

/** One line of what is bought. */
export interface OrderLine {
  readonly name: string;
  readonly quantity: number;
  /** Of the whole line, minor units; negative for a discount. */
  readonly amount: bigint;
}

/** A payment to be made at once, without the buyer. */
export interface PaymentOrder {
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly description: string;
  /** The processor's token of a card that it has. */
  readonly paymentMethod: string;
  readonly captureMethod: CaptureMethod;
}

/** To take what is authorized, or a part of it, which releases the rest. */
export interface CaptureOrder {
  readonly intentRef: string;
  readonly amount: bigint;
  readonly currency: string;
}

export interface RefundOrder {
  readonly intentRef: string;
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly reason: string;
}

/** A file to be held ready at the processor for evidence. */
export interface EvidenceUpload {
  readonly name: string;
  /** `application/pdf`, `image/jpeg` or `image/png`. */
  readonly type: string;
  readonly size: number;
  /** Its bytes in their order, anew at each call. */
  pieces(): AsyncIterable<Uint8Array>;
}

/** Evidence against a dispute. */
export interface EvidenceOrder {
  /** The dispute's id at the processor. */
  readonly disputeRef: string;
  /** Our id of the submission. */
  readonly reference: string;
  readonly texts: EvidenceContent["texts"];
  /** The processor's ids of files that were uploaded before. */
  readonly files: EvidenceContent["files"];
}

/** What a search by our reference needs to know. */
export interface IntentSearch {
  /** Our payment id. */
  readonly reference: string;
  /** As in its order. */
  readonly renewal?: number;
  readonly surface: string;
  /**
   * A time of the processor's own clock before the first try was sent; undefined: none is known, so the search has no
   * beginning.
   */
  readonly since?: Date | undefined;
  /** `resumeAfter` of an earlier answer; empty: from the newest on. */
  readonly after?: string;
}

/** A page of the account's own event list. */
export interface EventPage {
  /** Any order. */
  readonly events: readonly ProcessorEvent[];
  /** Empty: there is no more. */
  readonly next: string;
}

/** An event of the processor: a webhook after its signature was verified, or an entry of the account's event list. */
export interface ProcessorEvent {
  readonly id: string;
  /** By the processor's clock. */
  readonly createdAt: Date;
  readonly type: string;
  /** What the event itself tells of an intent; undefined: nothing, or not the whole of it. */
  readonly report: IntentReport | undefined;
  /** The intent to ask the processor for, when the event only tells that something happened to it; empty: none. */
  readonly intentRef: string;
  /**
   * The refund, dispute or attempt that it is about: an answer without it is older than the event. Absent or empty: the
   * intent.
   */
  readonly objectRef?: string;
  /** True: it tells of a failed attempt that the intent itself may have forgotten since. */
  readonly isForgettable?: boolean;
  /** True: its object does not carry our reference, so the processor is asked only about an intent that we know. */
  readonly isUnclaimed?: boolean;
}

/** A processor's account as the processor describes it. */
export interface AccountReport {
  readonly externalAccountId: string;
  /** The name that the processor shows for it; may be empty. */
  readonly displayName: string;
  /** ISO 3166; empty: not told. */
  readonly country: string;
  /** False: the processor does not yet let it take payments. */
  readonly canCharge: boolean;
}

/** A credential that cannot be right, found without asking anybody. Never holds the value. */
export interface CredentialProblem {
  readonly name: string;
  readonly problem: string;
}

export interface Connector {
  readonly name: string;
  /** Surfaces that its accounts offer; the first is the default. */
  readonly surfaces: readonly [string, ...string[]];
  /** Where its accounts may take payments. */
  readonly environments: readonly Environment[];
  /**
   * How long the processor surely keeps an idempotency key, and how long nothing must be found before absence is
   * proved; seconds.
   */
  readonly keyLifeSeconds: number;
  /** The processor's codes for failed attempts in the contract's words, where they differ. */
  readonly failureNames: FailureNames;
  /** It can authorize now and capture later; false: orders with `captureMethod` manual never come to it. */
  readonly capturesLater: boolean;
  /** The processor's clock, as its last answer told it; undefined: it has not answered yet. */
  processorTime(): Date | undefined;
  /** Why the processor never takes this amount in this currency, as `must …`; undefined: it does. Minor units. */
  refusesAmount(amount: bigint, currency: string): string | undefined;
  /** Judges credentials by their form alone: missing and unknown names, and keys of the other environment. */
  judgeCredentials(
    environment: Environment,
    credentials: ProcessorAccount["credentials"],
  ): readonly CredentialProblem[];
  /** A live call with the credentials that reads the account; declined: the processor does not know them. */
  readAccount(
    environment: Environment,
    credentials: ProcessorAccount["credentials"],
  ): Promise<ProcessorAnswer<AccountReport>>;
  /** Creates an intent; the same key makes at most one. */
  createIntent(account: ProcessorAccount, order: IntentOrder, key: string): Promise<ProcessorAnswer<CreatedIntent>>;
  /**
   * Creates an intent and pays it at once with a payment method that the processor has; the same key makes at most one.
   * What the issuer says, also no, is a fact of the report; `declined` means that the processor refused the order and
   * made nothing, for example `unknown_payment_method`. A card that needs its buyer is a decline. `findIntent` finds
   * what came of it.
   */
  payIntent(account: ProcessorAccount, order: PaymentOrder, key: string): Promise<ProcessorAnswer<IntentReport>>;
  /** Asks for the intent under our reference and of this renewal: the oldest where there are several. */
  findIntent(account: ProcessorAccount, search: IntentSearch): Promise<ProcessorAnswer<CreatedIntent>>;
  /**
   * Asks what became of an intent. @param eventId id of an event of an attempt that the intent may have forgotten: such
   * attempts are looked for, too
   */
  retrieveIntent(account: ProcessorAccount, ref: string, eventId?: string): Promise<ProcessorAnswer<IntentReport>>;
  /**
   * Captures what is authorized, once; the same key captures at most once. Declined `not_capturable` when it is not
   * authorized (any more), `amount_too_large` above what is authorized.
   */
  captureIntent(account: ProcessorAccount, order: CaptureOrder, key: string): Promise<ProcessorAnswer<IntentReport>>;
  /**
   * Cancels an intent of which nothing is captured; declined `not_cancelable` when something is or it is being paid,
   * or any code when the processor does not know it. Harmless to repeat. @param authorized `keep`: declined, too, when
   * it is authorized
   */
  cancelIntent(
    account: ProcessorAccount,
    ref: string,
    authorized: "keep" | "release",
  ): Promise<ProcessorAnswer<IntentReport>>;
  /** Refunds; the same key makes at most one. */
  createRefund(account: ProcessorAccount, order: RefundOrder, key: string): Promise<ProcessorAnswer<RefundReport>>;
  /** Asks for the refund under our reference: the oldest where there are several. */
  findRefund(
    account: ProcessorAccount,
    order: Pick<RefundOrder, "intentRef" | "reference">,
  ): Promise<ProcessorAnswer<RefundReport>>;
  /** Asks how a dispute stands, with `evidenceReference`. */
  retrieveDispute(account: ProcessorAccount, ref: string): Promise<ProcessorAnswer<DisputeReport>>;
  /**
   * Holds a file ready for evidence. A repeat makes at most a file that nobody uses. Declined `evidence_not_accepted`:
   * the file will never be taken. @returns its id at the processor
   */
  uploadFile(account: ProcessorAccount, file: EvidenceUpload, key: string): Promise<ProcessorAnswer<string>>;
  /**
   * Sends evidence for good; the same key sends it at most once, and `retrieveDispute` then tells its reference.
   * Declined `not_answerable` when the dispute needs no response (any more), `evidence_not_accepted` when the content
   * is refused.
   */
  submitEvidence(account: ProcessorAccount, order: EvidenceOrder, key: string): Promise<ProcessorAnswer<DisputeReport>>;
  /**
   * Concedes a dispute; declined `not_answerable` when it is decided otherwise or under review. Harmless to repeat: one
   * that is lost is answered as such.
   */
  acceptDispute(account: ProcessorAccount, ref: string): Promise<ProcessorAnswer<DisputeReport>>;
  /**
   * A page of what moved money on the account in the period, in any order that pages keep. @param after `next` of the
   * page before; empty: the first one. Absent: the processor has no such list.
   */
  readStatement?(
    account: ProcessorAccount,
    period: StatementPeriod,
    after: string,
  ): Promise<ProcessorAnswer<StatementPage>>;
  /**
   * A page of the account's event list from `since` on, by the processor's clock; undefined: the newest page and no
   * more. Absent: the processor has no such list.
   */
  readEvents?(account: ProcessorAccount, since: Date | undefined, after: string): Promise<ProcessorAnswer<EventPage>>;
  /** Verifies a webhook over its raw bytes. @throws Failure UNAUTHORIZED (signature), INVALID_BODY (content). */
  readEvent(account: ProcessorAccount, body: Uint8Array, headers: Readonly<Record<string, string>>): ProcessorEvent;
  /** Ends its connections. */
  close(): Promise<void>;
}
