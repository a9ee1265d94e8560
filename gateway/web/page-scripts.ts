// Scripts of the hosted payment page with owner, reason and integrity (PCI DSS 4.0.1, 6.4.3). The page's policy is
// built from this list, so no other script runs.

export interface PageScript {
  /** Value in `script-src`. */
  readonly source: string;
  readonly owner: string;
  readonly reason: string;
  readonly integrity: string;
}

export const pageScripts: readonly PageScript[] = [
  {
    source: "'self'",
    owner: "Tollbooth",
    reason: "Shows the order and the state of the payment, and puts the processor's fields into the page.",
    integrity:
      "One file, and a second for the QR code on demand; both are named and pinned (`integrity`) by their hash, and a test compares them with their sources.",
  },
  {
    source: "https://js.stripe.com",
    owner: "Stripe",
    reason: "Draws the card fields of connector stripe, so that card details never reach the page or its server.",
    integrity:
      "Changes without notice and cannot be pinned; loaded by TLS from the processor, which is subject to PCI DSS.",
  },
  {
    source: "https://*.js.stripe.com",
    owner: "Stripe",
    reason: "Parts that Stripe's script loads from its own hosts.",
    integrity: "Same as https://js.stripe.com.",
  },
];

export const scriptSources: readonly string[] = pageScripts.map(({ source }) => source);
