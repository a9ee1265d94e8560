// The buyer at the card processor's surface, without a browser: sends what the simulator's card form and challenge page
// send.
import { type Answer, apiClient } from "./api.ts";

/** A card as typed into the form; the defaults are what most tests need. */
export interface TypedCard {
  number: string;
  exp_month?: number;
  exp_year?: number;
  cvc?: string;
  postal_code?: string;
}

/** Cards of docs/contract.md §11 that many tests use. */
export const cards = {
  succeeds: "4242424242424242",
  declined: "4000000000000002",
  needsChallenge: "4000002500003155",
  declinedAfterChallenge: "4000008400001629",
  asynchronous: "4000000000006108",
  disputedLater: "4000000000000259",
  inquiredLater: "4000000000001976",
  lapses: "4000000000006405",
  refundFailsLater: "4000000000005126",
} as const;

/** The simulator's test bank for iDEAL, and its accounts for SEPA debits, by IBAN. */
export const bank = "TESTBANK";
export const debits = {
  settles: "DE89370400440532013000",
  fails: "DE62370400440532013001",
  returned: "DE35370400440532013002",
} as const;

/**
 * Pays by the card form.
 * @param frameUrl `render.frame_url` of a session: the form's address with the intent's secret as its fragment
 * @param card a number, or all that the buyer types
 * @returns the form's answer: `status`, and `failure_code` or `challenge_url`
 */
export async function payInFrame(frameUrl: string, card: string | TypedCard = cards.succeeds): Promise<Answer> {
  const form = new URL(frameUrl);
  const typed = typeof card === "string" ? methodOf(card) : card;
  return apiClient(form.origin).post(`${form.pathname}/pay`, {
    client_secret: decodeURIComponent(form.hash.slice(1)),
    exp_month: 12,
    exp_year: new Date().getUTCFullYear() + 3,
    cvc: "123",
    ...typed,
  });
}

function methodOf(number: string): object {
  if (number === bank) return { method: "ideal" };
  return number.startsWith("DE") ? { method: "sepa_debit", iban: number } : { number };
}

/** Answers the bank's challenge, or pays or refuses at the bank's page. @param challengeUrl from the answer to `pay` */
export async function answerChallenge(challengeUrl: string, outcome: "pass" | "fail"): Promise<Answer> {
  const page = new URL(challengeUrl);
  return apiClient(page.origin).post(page.pathname.replace("/bank/", "/challenge/"), {
    token: decodeURIComponent(page.hash.slice(1)),
    outcome,
  });
}

/**
 * The processor's token of a card, as the buyer's browser gets it.
 * @param origin the processor's
 * @param account the merchant's external_account_id there
 */
export async function cardToken(origin: string, account: string, card: string = cards.succeeds): Promise<string> {
  const typed = { number: card, exp_month: 12, exp_year: new Date().getUTCFullYear() + 3, cvc: "123" };
  return (await apiClient(origin).post("/payment-methods", { account, ...typed })).expect(201).text("id");
}
