// Every machine of the services, with all its moves: found by asking the rules what they do, from the first state on.
import {
  decideSession,
  type PaymentOutcome,
  type SessionState,
  type SessionStatus,
} from "../../services/checkout/rules/session.ts";
import {
  type ApplicationCommand,
  type ApplicationStatus,
  decideApplication,
} from "../../services/merchant/rules/application.ts";
import { type DisputeStatus, moveDispute } from "../../services/payments/rules/dispute.ts";
import { moveRefund, type RefundStatus } from "../../services/payments/rules/refund.ts";
import { judgeOutcome, type Outcome } from "../../services/webhook/rules/delivery.ts";
import { deliveredType } from "../../services/webhook/rules/event-types.ts";
import type { Machine, Move } from "./machine.ts";
import { paymentMoves } from "./payment-moves.ts";

const sessionStates = ["open", "processing", "completed", "canceled", "expired"] as const;
const outcomes: Readonly<Record<PaymentOutcome, string>> = {
  open: "an attempt was declined, or none is under way",
  processing: "the processor works on an attempt",
  paid: "the payment succeeded",
  canceled: "the intent was canceled",
};

function sessionMoves(): Move[] {
  const silent = { receiptUrl: "", capturedAmount: undefined };
  const known = { ...silent, paymentStatus: "", failedAttempts: 0, paymentVersion: 1n, paymentEventAt: undefined };
  const moved = (status: SessionStatus, outcome: PaymentOutcome, cancelMeans: "expired" | "canceled") => {
    const state: SessionState = { ...known, status };
    const fact = { ...silent, outcome, paymentStatus: outcome, failedAttempts: 1, version: 2n, at: undefined };
    const decision = decideSession(state, fact, cancelMeans);
    if (decision.kind !== "changed" || decision.state.status === status) return [];
    return [{ to: decision.state.status, events: publicCodes(decision.event ? [decision.event] : []) }];
  };
  return sessionStates.flatMap((from) =>
    (["open", "processing", "paid", "canceled"] as const).flatMap((outcome) => {
      if (outcome !== "canceled")
        return moved(from, outcome, "canceled").map((move) => ({ from, on: outcomes[outcome], ...move }));
      const meanings = {
        expired: "its time is over and it is unpaid",
        canceled: "ten attempts were declined, or risk refused the buyer",
      };
      return (["expired", "canceled"] as const).flatMap((means) =>
        moved(from, outcome, means).map((move) => ({ from, on: meanings[means], ...move })),
      );
    }),
  );
}

/** Public event types of a service's announcements. */
function publicCodes(announced: readonly string[]): string[] {
  return announced.flatMap((type) => deliveredType(type)?.code ?? []);
}

const refundStates: readonly RefundStatus[] = ["pending", "succeeded", "failed", "canceled"];
const refundWords: Readonly<Record<RefundStatus, string>> = {
  pending: "",
  succeeded: "the processor has paid it out",
  failed: "the processor or the bank sends it back",
  canceled: "the processor did not carry it out",
};

function refundMoves(): Move[] {
  return refundStates.flatMap((from) =>
    refundStates.flatMap((to) => {
      const change = moveRefund({ id: "re_1", status: from, amount: 1n }, to);
      return change.kind === "moved" ? [{ from, on: refundWords[to], to, events: [] }] : [];
    }),
  );
}

const disputeStates: readonly DisputeStatus[] = [
  "warning_needs_response",
  "warning_under_review",
  "warning_closed",
  "needs_response",
  "under_review",
  "won",
  "lost",
];

function disputeMoves(): Move[] {
  return disputeStates.flatMap((from) =>
    disputeStates.flatMap((to) => {
      const change = moveDispute({ id: "dp_1", amount: 1n }, from, to);
      if (change.kind === "ignored") return [];
      const events = publicCodes(change.announce);
      return [{ from, on: "the processor reports it", to, events }];
    }),
  );
}

function deliveryMoves(): Move[] {
  const schedule = { baseMs: 60_000, capMs: 3_600_000, attemptsMax: 78 };
  const answered = (statusCode: number): Outcome => ({ kind: "answered", statusCode, retryAfterMs: 0 });
  const tried = { tries: 0, ageMs: 0 };
  const last = { tries: schedule.attemptsMax - 1, ageMs: 0 };
  const cases: readonly (readonly [string, Outcome, typeof tried])[] = [
    ["a 2xx came back", answered(200), tried],
    ["another answer or none, with attempts left", answered(500), tried],
    ["another answer or none at the last attempt", answered(500), last],
  ];
  const states = { delivered: "delivered", failed: "failed", retry: "pending", postponed: "pending" };
  const judged = cases.map(([on, outcome, at]) => {
    const { kind } = judgeOutcome(outcome, at, schedule, 0.5);
    return { from: "pending", on, to: states[kind], events: [] };
  });
  // No rule decides these: the operation and the deletion of the endpoint each are one statement.
  const again = ["delivered", "failed"].map((from) => ({ from, on: "the retry operation", to: "pending", events: [] }));
  return [...judged, ...again];
}

const applicationStates: readonly ApplicationStatus[] = ["draft", "submitted", "approved", "rejected"];
const commands: Readonly<Record<ApplicationCommand, string>> = {
  submit: "it is submitted with every field",
  approve: "an operator approves; the merchant is made",
  reject: "an operator rejects",
};

function applicationMoves(): Move[] {
  return applicationStates.flatMap((from) =>
    (["submit", "approve", "reject"] as const).flatMap((command) => {
      const decision = decideApplication(from, command);
      return decision.kind === "moved" ? [{ from, on: commands[command], to: decision.to, events: [] }] : [];
    }),
  );
}

/** In the order of the page. */
export const machines: readonly Machine[] = [
  {
    name: "session",
    about: "A session follows its payment ([the contract](contract.md), §4). Money that arrives is never refused.",
    states: sessionStates,
    moves: sessionMoves(),
  },
  {
    name: "payment",
    about:
      "The status is derived from what is known: attempts, amounts, disputes ([the contract](contract.md), §5). It starts as `pending`.",
    states: [
      "pending",
      "requires_action",
      "processing",
      "succeeded",
      "partially_refunded",
      "refunded",
      "disputed",
      "failed",
      "canceled",
    ],
    moves: paymentMoves(),
  },
  { name: "refund", about: "A refund that fails gives its amount back.", states: refundStates, moves: refundMoves() },
  {
    name: "dispute",
    about: "Inquiries (`warning_…`) hold no money. A decision can be overturned; late news never goes backwards.",
    states: disputeStates,
    moves: disputeMoves(),
  },
  {
    name: "delivery",
    about: "A webhook on its way to one endpoint ([the contract](contract.md), §9).",
    states: ["pending", "delivered", "failed"],
    moves: deliveryMoves(),
  },
  {
    name: "application",
    about: "An application of a new merchant ([the contract](contract.md), §8). A draft ends after 30 days.",
    states: applicationStates,
    moves: applicationMoves(),
  },
];
