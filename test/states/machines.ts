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

const sessionStates = {
  open: "The buyer can pay. A declined attempt leaves it open.",
  processing: "An attempt is under way at the bank: wait for the webhook, and never ask the buyer to pay again.",
  completed: "It is paid, or authorized where you capture.",
  canceled: "It ended after ten declined attempts or by risk screening; nothing was charged.",
  expired: "Its time is over, or you ended it; nothing was charged.",
} as const satisfies Record<SessionStatus, string>;
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
  return namesOf(sessionStates).flatMap((from) =>
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

const namesOf = <S extends string>(states: Readonly<Record<S, string>>) => Object.keys(states) as S[];

/** Public event types of a service's announcements. */
function publicCodes(announced: readonly string[]): string[] {
  return announced.flatMap((type) => deliveredType(type)?.code ?? []);
}

const refundStates: Readonly<Record<RefundStatus, string>> = {
  pending: "Sent, and not yet confirmed by the processor: nothing to do.",
  succeeded: "The processor has paid it out; the buyer's bank may need days to show it.",
  failed: "It was not made, or its money came back: the amount can be refunded again.",
  canceled: "The processor did not carry it out: the amount can be refunded again.",
};
const refundWords: Readonly<Record<RefundStatus, string>> = {
  pending: "",
  succeeded: "the processor has paid it out",
  failed: "the processor or the bank sends it back",
  canceled: "the processor did not carry it out",
};

function refundMoves(): Move[] {
  return namesOf(refundStates).flatMap((from) =>
    namesOf(refundStates).flatMap((to) => {
      const change = moveRefund({ id: "re_1", status: from, amount: 1n }, to);
      return change.kind === "moved" ? [{ from, on: refundWords[to], to, events: [] }] : [];
    }),
  );
}

const disputeStates: Readonly<Record<DisputeStatus, string>> = {
  warning_needs_response: "An inquiry of the bank: answer it, or refund the payment.",
  warning_under_review: "Your answer to the inquiry is with the bank.",
  warning_closed: "The inquiry has ended without a dispute.",
  needs_response: "Send evidence until `evidence_due_at`, or accept it.",
  under_review: "Your evidence is with the bank, which decides.",
  won: "The money stays with you.",
  lost: "The money went to the buyer.",
};

function disputeMoves(): Move[] {
  return namesOf(disputeStates).flatMap((from) =>
    namesOf(disputeStates).flatMap((to) => {
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

const applicationStates: Readonly<Record<ApplicationStatus, string>> = {
  draft: "",
  submitted: "",
  approved: "",
  rejected: "",
};
const commands: Readonly<Record<ApplicationCommand, string>> = {
  submit: "it is submitted with every field",
  approve: "an operator approves; the merchant is made",
  reject: "an operator rejects",
};

function applicationMoves(): Move[] {
  return namesOf(applicationStates).flatMap((from) =>
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
    states: {
      pending: "Begun, without a result: do not ship.",
      requires_action: "The buyer's bank asks for 3-D Secure: do not ship.",
      processing: "The bank is working on it: do not ship, and never ask to pay again. A webhook brings the result.",
      succeeded: "Paid: ship. With a `captured_amount` of 0 it is authorized: capture it.",
      partially_refunded: "Paid, and refunded in part.",
      refunded: "Refunded in full.",
      disputed: "A dispute is open or lost.",
      failed: "The last attempt was declined, or a debit was returned: `failure` has the reason.",
      canceled: "It ended unpaid, or its authorization was released.",
    },
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
    states: {
      pending: "It waits for its first or next attempt.",
      delivered: "Your endpoint answered 2xx.",
      failed: "No attempt succeeded within three days: retry it yourself.",
    },
    moves: deliveryMoves(),
  },
  {
    name: "application",
    about: "An application of a new merchant ([the contract](contract.md), §8). A draft ends after 30 days.",
    states: applicationStates,
    moves: applicationMoves(),
  },
];
