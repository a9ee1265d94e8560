// Test cards for each operation. The numbers come from the simulator's table.
import { type Html, html } from "../../../../gateway/html.ts";
import { type TestCard, testCardNamed } from "../../../../services/simulator/rules/test-card.ts";
import { testCardsAddress } from "../contents.ts";

/** The card's effect, as the end of a sentence. */
const cardEffects: Readonly<Record<string, readonly (readonly [behaviour: string, does: string])[]>> = {
  createCheckoutSession: [
    ["succeeds", "pays the session"],
    ["declined", "is declined, and the session stays open"],
    ["challenge", "asks for 3-D Secure first"],
  ],
  confirmCheckout: [
    ["succeeds", "is confirmed as `succeeded`"],
    ["asynchronous", "stays `processing` until the processor reports the result"],
    ["lost", "is paid although the browser never confirms"],
  ],
  createPayment: [
    ["succeeds", "succeeds"],
    ["insufficient_funds", "fails as `insufficient_funds`"],
    ["challenge", "fails, since no buyer can pass 3-D Secure"],
  ],
  getPayment: [["insufficient_funds", "gives a payment with `failure` and `attempts`"]],
  capturePayment: [["lapses", "authorizes, and expires soon unless captured"]],
  cancelPayment: [["succeeds", "authorizes a payment to cancel"]],
  createRefund: [["refund_fails", "accepts a refund, which fails later"]],
  getDispute: [
    ["disputed", "pays, and is disputed shortly after"],
    ["inquired", "pays, and the buyer's bank inquires shortly after: no money is held"],
  ],
  submitDisputeEvidence: [
    ["disputed", "is disputed; `winning_evidence` in `uncategorized_text` wins, `losing_evidence` loses"],
  ],
};

/** A sentence per card; empty without any. */
export function renderTestCards(operationId: string): Html {
  const cards = cardEffects[operationId] ?? [];
  if (cards.length === 0) return html``;
  const rows = cards.map(([behaviour, does]) => {
    const parts = does.split("`").map((piece, i) => (i % 2 === 0 ? html`${piece}` : html`<code>${piece}</code>`));
    return html`<li><code>${groupDigits(testCardNamed(behaviour))}</code> ${parts.reduce((all, piece) => html`${all}${piece}`)}</li>`;
  });
  return html`<div class="cards"><p>Test cards (<a href="${testCardsAddress}">all of them</a>)</p><ul>${rows}</ul></div>`;
}

/** Grouped as on a card. */
export function groupDigits({ number, behaviour }: TestCard): string {
  if (number === "") throw new Error(`the simulator has no card for ${behaviour}`);
  return number.replace(/(\d{4})(?=\d)/g, "$1 ");
}
