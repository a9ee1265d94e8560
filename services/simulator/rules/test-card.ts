// The test cards of docs/contract.md §11, whose number decides the outcome. The form's click-to-fill list, the rules
// and the tests use this table.

export type Outcome =
  | {
      readonly kind: "succeeds";
      readonly later?: "dispute" | "inquiry" | "refund_fails" | "lapse";
      readonly isLost?: true;
      readonly answerMs?: number;
    }
  | { readonly kind: "declined"; readonly code: string; readonly message: string }
  | { readonly kind: "challenge"; readonly passed: "succeeds" | "declined" }
  | { readonly kind: "asynchronous"; readonly ends?: "failed" | "returned" }
  | { readonly kind: "outage" };

export interface TestCard {
  /** Stored instead of the number. */
  readonly behaviour: string;
  readonly number: string;
  readonly label: string;
  readonly outcome: Outcome;
}

const slowMs = 6_000; // docs/contract.md §11

export const testCards: readonly TestCard[] = [
  card("succeeds", "4242424242424242", "Succeeds", { kind: "succeeds" }),
  declined("declined", "4000000000000002", "Declined", "card_declined", "Your card was declined."),
  declined(
    "insufficient_funds",
    "4000000000009995",
    "Insufficient funds",
    "insufficient_funds",
    "Your card has insufficient funds.",
  ),
  declined("expired", "4000000000000069", "Expired card", "expired_card", "Your card has expired."),
  declined(
    "incorrect_cvc",
    "4000000000000127",
    "Incorrect CVC",
    "incorrect_cvc",
    "Your card's security code is incorrect.",
  ),
  declined(
    "processing_error",
    "4000000000000119",
    "Processing error",
    "processing_error",
    "An error occurred while processing your card. Try again in a little bit.",
  ),
  card("challenge", "4000002500003155", "Asks for 3-D Secure", { kind: "challenge", passed: "succeeds" }),
  card("challenge_declined", "4000008400001629", "Declined after 3-D Secure", {
    kind: "challenge",
    passed: "declined",
  }),
  card("disputed", "4000000000000259", "Succeeds, then disputed", { kind: "succeeds", later: "dispute" }),
  card("inquired", "4000000000001976", "Succeeds, then an inquiry", { kind: "succeeds", later: "inquiry" }),
  card("refund_fails", "4000000000005126", "Succeeds, its refund fails", { kind: "succeeds", later: "refund_fails" }),
  declined("highest_risk", "4100000000000019", "Highest risk, blocked", "blocked_high_risk", "Your card was declined."),
  card("slow", "4000000000006009", "Slow (6 s)", { kind: "succeeds", answerMs: slowMs }),
  card("asynchronous", "4000000000006108", "Settles later", { kind: "asynchronous" }),
  card("outage", "4000000000006207", "Processor outage", { kind: "outage" }),
  card("lost", "4000000000006306", "Succeeds, page is lost", { kind: "succeeds", isLost: true }),
  card("lapses", "4000000000006405", "Authorization lapses soon", { kind: "succeeds", later: "lapse" }),
];

/** Test accounts of the debit, by IBAN, and the bank of the redirect method, which asks the buyer. */
export const testAccounts: readonly TestCard[] = [
  card("debit", "DE89370400440532013000", "SEPA debit: settles later", { kind: "asynchronous" }),
  card("debit_failed", "DE62370400440532013001", "SEPA debit: fails later", { kind: "asynchronous", ends: "failed" }),
  card("debit_returned", "DE35370400440532013002", "SEPA debit: settles, then returned", {
    kind: "asynchronous",
    ends: "returned",
  }),
];
export const testBank = card("bank", "TESTBANK", "iDEAL: opens the test bank", {
  kind: "challenge",
  passed: "succeeds",
});

/** Any other number, even of a real card, is declined, since no money moves here. */
const unknownCard = declined("unknown", "", "Unknown", "card_declined", "unknown test card");

const byNumber = new Map([...testCards, ...testAccounts].map((known) => [known.number, known]));
const byBehaviour = new Map(
  [...testCards, ...testAccounts, testBank, unknownCard].map((known) => [known.behaviour, known]),
);

/** The card with this number (digits only), or the account with this IBAN. */
export function testCardOf(number: string): TestCard {
  return byNumber.get(number) ?? unknownCard;
}

export function testCardNamed(behaviour: string): TestCard {
  return byBehaviour.get(behaviour) ?? unknownCard;
}

function card(behaviour: string, number: string, label: string, outcome: Outcome): TestCard {
  return { behaviour, number, label, outcome };
}

function declined(behaviour: string, number: string, label: string, code: string, message: string): TestCard {
  return { behaviour, number, label, outcome: { kind: "declined", code, message } };
}
