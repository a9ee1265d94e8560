// The methods that the simulator plays.
import type { MethodTerms } from "../../rules/payment-method.ts";

export const simulatorMethods: readonly MethodTerms[] = [
  { type: "card", currencies: [], refund: "partial", delayed: false, disputes: true, manualCapture: true },
  { type: "ideal", currencies: ["EUR"], refund: "partial", delayed: false, disputes: false, manualCapture: false },
  { type: "sepa_debit", currencies: ["EUR"], refund: "partial", delayed: true, disputes: true, manualCapture: false },
];
