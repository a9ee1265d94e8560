// Every script that may run in the hosted payment page, with who answers for it, why it is there and how it is known to
// be the one that was meant (PCI DSS 4.0.1, 6.4.3). The page's policy is made of this list, so that a script that is
// not in it does not run.

export interface PageScript {
  /** As `script-src` names it. */
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
      "One file, and one more for another device's code when it is wanted, each named and pinned (`integrity`) by the hash of its bytes; a test compares them with their sources.",
  },
  {
    source: "https://js.stripe.com",
    owner: "Stripe",
    reason: "Draws the card fields of connector stripe, so that card details never reach the page or its server.",
    integrity: "Changes without notice and cannot be pinned; loaded by TLS from the processor, which PCI DSS obliges.",
  },
  {
    source: "https://*.js.stripe.com",
    owner: "Stripe",
    reason: "Parts that Stripe's script loads from its own hosts.",
    integrity: "As https://js.stripe.com.",
  },
];

/** What `script-src` lists. */
export const scriptSources: readonly string[] = pageScripts.map(({ source }) => source);
