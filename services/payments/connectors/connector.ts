// The port to a card processor: a connector speaks one processor's API and gives five kinds of answers. A result that
// it cannot prove is unknown, and unknown never becomes failed.
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { DisputeReport } from "../rules/dispute.ts";
import type { FailureNames } from "../rules/failure-code.ts";
import type { CaptureMethod, IntentFact } from "../rules/payment.ts";
import type { MethodTerms } from "../rules/payment-method.ts";
import type { RefundReport } from "../rules/refund.ts";
import type { StatementLine } from "../rules/statement.ts";
import type { ProcessorAccount, ProcessorAnswer } from "./answer.ts";
import type { BalanceReader } from "./balance-reader.ts";
import type { CredentialProblem } from "./credential-forms.ts";
import type {
  CaptureOrder,
  EvidenceOrder,
  EvidenceUpload,
  IntentOrder,
  IntentSearch,
  PaymentOrder,
  RefundOrder,
} from "./order.ts";

export { type DeclineCode, isKnown, type KnownAnswer, type ProcessorAccount, type ProcessorAnswer } from "./answer.ts";
// Parts of the port that rules read.
export type { DisputeReport, RefundReport };

/** An intent as the processor reports it. */
export interface IntentReport {
  readonly ref: string;
  /** Our payment id. */
  readonly reference: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
  /** As ordered; absent: not reported. */
  readonly captureMethod?: CaptureMethod;
  /** Number of pages of the payment that ended before; absent: 0. */
  readonly renewal?: number;
  /** In chronological order. */
  readonly facts: readonly IntentFact[];
  readonly refunds: readonly RefundReport[];
  readonly disputes: readonly DisputeReport[];
  /** Ids of refunds that only release an uncaptured authorization. Absent: none. */
  readonly releases?: readonly string[];
  /**
   * Its page or client secret has ended, and it is not paid, processing or payable any more: another intent may replace
   * it. Not an `intent_canceled`. Absent: it has not ended.
   */
  readonly pageEndedAt?: Date;
  /** The list of forgotten attempts does not contain the queried event yet: attempts may be missing. */
  readonly isBehind?: true;
}

export interface StatementPeriod {
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}

export interface StatementPage {
  readonly lines: readonly StatementLine[];
  /** Empty: the last page. */
  readonly next: string;
}

/** Data for the buyer's browser (docs/contract.md §4). */
export interface Mount {
  readonly kind: "element" | "frame" | "redirect";
  readonly publishableKey: string;
  readonly clientSecret: string;
  readonly scriptUrl: string;
  readonly frameUrl: string;
  readonly redirectUrl: string;
  /** Subresource Integrity of the script; absent: it changes without notice. */
  readonly scriptIntegrity?: string;
  readonly styleUrl?: string;
  readonly styleIntegrity?: string;
  /** Other settings for the driver, as a JSON object. */
  readonly options?: string;
  /** Announced end of the page; absent: none. A hint when to ask, never a proof. */
  readonly expiresAt?: Date;
}

export interface CreatedIntent {
  readonly report: IntentReport;
  readonly mount: Mount;
}

/** A page of the account's event list. */
export interface EventPage {
  /** In any order. */
  readonly events: readonly ProcessorEvent[];
  /** Empty: the last page. */
  readonly next: string;
}

/** A verified webhook, or an entry of the account's event list. */
export interface ProcessorEvent {
  readonly id: string;
  /** By the processor's clock. */
  readonly createdAt: Date;
  readonly type: string;
  /** The whole intent; undefined: the event does not contain it. */
  readonly report: IntentReport | undefined;
  /** The intent to query, if the event is only a hint; empty: none. */
  readonly intentRef: string;
  /** The refund, dispute or attempt of the event: an answer without it is older. Absent or empty: the intent. */
  readonly objectRef?: string;
  /** The event is about a failed attempt that the intent may have forgotten. */
  readonly isForgettable?: boolean;
  /** Its object does not carry our reference: the processor is queried only for an intent that we have. */
  readonly isUnclaimed?: boolean;
}

/** An account as the processor describes it. */
export interface AccountReport {
  readonly externalAccountId: string;
  /** May be empty. */
  readonly displayName: string;
  /** ISO 3166; empty: not reported. */
  readonly country: string;
  /** False: the processor does not let it take payments yet. */
  readonly canCharge: boolean;
}

export interface Connector {
  readonly name: string;
  /** Surfaces that its accounts offer; the first is the default. */
  readonly surfaces: readonly [string, ...string[]];
  /** Environments in which its accounts may take payments. */
  readonly environments: readonly Environment[];
  /** How long the processor keeps an idempotency key, and how long a missing object proves its absence; seconds. */
  readonly keyLifeSeconds: number;
  /**
   * Nothing lists what the processor made; instead a command under its earlier key gets its first answer again. Within
   * half of the key's life a command whose answer was lost is sent again, not searched.
   */
  readonly replaysAnswers?: true;
  readonly failureNames: FailureNames;
  /** The methods that it can offer, with their terms. */
  readonly methods: readonly MethodTerms[];
  /** Reads balance, movements and payouts; absent: the processor does not list them. */
  readonly balance?: BalanceReader;
  /** It supports manual capture; otherwise it gets no such orders. */
  readonly capturesLater: boolean;
  /** The processor's clock by its last answer; undefined: no answer yet. */
  processorTime(): Date | undefined;
  /** Why the processor never accepts this amount, as `must …`; undefined: it does. Minor units. */
  refusesAmount(amount: bigint, currency: string): string | undefined;
  /** Checks credentials by their form: missing and unknown names, and keys of the other environment. */
  judgeCredentials(
    environment: Environment,
    credentials: ProcessorAccount["credentials"],
  ): readonly CredentialProblem[];
  /** Reads the account with a live call; declined: invalid credentials. */
  readAccount(
    environment: Environment,
    credentials: ProcessorAccount["credentials"],
  ): Promise<ProcessorAnswer<AccountReport>>;
  /** Creates an intent; one key makes at most one. */
  createIntent(account: ProcessorAccount, order: IntentOrder, key: string): Promise<ProcessorAnswer<CreatedIntent>>;
  /**
   * Creates an intent and pays it with a stored payment method; one key makes at most one. The issuer's answer, also a
   * decline, is a fact of the report; `declined` means that the processor made nothing. A card that requires its buyer
   * is declined. `findIntent` finds the intent.
   */
  payIntent(account: ProcessorAccount, order: PaymentOrder, key: string): Promise<ProcessorAnswer<IntentReport>>;
  /** Finds the oldest intent under our reference and renewal. */
  findIntent(account: ProcessorAccount, search: IntentSearch): Promise<ProcessorAnswer<CreatedIntent>>;
  /** Reads an intent. @param eventId an event of an attempt that the intent may have forgotten and that is searched */
  retrieveIntent(account: ProcessorAccount, ref: string, eventId?: string): Promise<ProcessorAnswer<IntentReport>>;
  /** Finishes an attempt by the result of a bank's page, without the buyer's tab; may be repeated, then retrieves. */
  finishRedirect?(account: ProcessorAccount, ref: string, result: string): Promise<ProcessorAnswer<IntentReport>>;
  /**
   * Captures an authorization once; one key captures at most once. Declined `not_capturable` if it is not authorized,
   * `amount_too_large` above the authorized amount.
   */
  captureIntent(account: ProcessorAccount, order: CaptureOrder, key: string): Promise<ProcessorAnswer<IntentReport>>;
  /**
   * Cancels an uncaptured intent; declined `not_cancelable` if it is captured or processing, or with any code if the
   * processor does not know it. May be repeated. @param authorized `keep`: also declined if it is authorized
   */
  cancelIntent(
    account: ProcessorAccount,
    ref: string,
    authorized: "keep" | "release",
  ): Promise<ProcessorAnswer<IntentReport>>;
  /** Refunds; one key makes at most one refund. */
  createRefund(account: ProcessorAccount, order: RefundOrder, key: string): Promise<ProcessorAnswer<RefundReport>>;
  /** Finds the oldest refund under our reference. */
  findRefund(
    account: ProcessorAccount,
    order: Pick<RefundOrder, "intentRef" | "reference">,
  ): Promise<ProcessorAnswer<RefundReport>>;
  /** Reads a dispute, with `evidenceReference`. */
  retrieveDispute(account: ProcessorAccount, ref: string): Promise<ProcessorAnswer<DisputeReport>>;
  /**
   * Uploads a file for evidence; a repeat makes at most an unused file. Declined `evidence_not_accepted`: never
   * accepted.
   * @returns its id at the processor
   */
  uploadFile(account: ProcessorAccount, file: EvidenceUpload, key: string): Promise<ProcessorAnswer<string>>;
  /**
   * Submits evidence, which is final; one key submits at most once, and `retrieveDispute` then returns its reference.
   * Declined `not_answerable` if the dispute takes no response, `evidence_not_accepted` if the content is refused.
   */
  submitEvidence(account: ProcessorAccount, order: EvidenceOrder, key: string): Promise<ProcessorAnswer<DisputeReport>>;
  /** Concedes a dispute; declined `not_answerable` if it is won or under review. May be repeated. */
  acceptDispute(account: ProcessorAccount, ref: string): Promise<ProcessorAnswer<DisputeReport>>;
  /**
   * A page of the account's money movements, in a stable order. @param after `next` of the previous page. Absent: no
   * such list.
   */
  readStatement?(
    account: ProcessorAccount,
    period: StatementPeriod,
    after: string,
  ): Promise<ProcessorAnswer<StatementPage>>;
  /**
   * A page of the account's events. @param since processor's time; undefined: only the newest page. Absent: no list.
   */
  readEvents?(account: ProcessorAccount, since: Date | undefined, after: string): Promise<ProcessorAnswer<EventPage>>;
  /**
   * Verifies a webhook over its raw bytes, and stores it where nothing else can be queried.
   * @throws Failure UNAUTHORIZED (signature), INVALID_BODY (content).
   */
  readWebhook(
    account: ProcessorAccount,
    body: Uint8Array,
    headers: Readonly<Record<string, string>>,
  ): Promise<readonly ProcessorEvent[]>;
  close(): Promise<void>;
}
