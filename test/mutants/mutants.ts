// Every mutant, in the order in which they are tried. Whoever changes a file here finds out by its test that a mutant
// lost its text.
import { checkout } from "./checkout.ts";
import { connectors } from "./connectors.ts";
import type { Mutant } from "./mutant.ts";
import { paymentsDisputes } from "./payments-disputes.ts";
import { paymentsFlows } from "./payments-flows.ts";
import { paymentsProcessor } from "./payments-processor.ts";
import { paymentsRules } from "./payments-rules.ts";
import { paymentsSettlement } from "./payments-settlement.ts";
import { paymentsStores } from "./payments-stores.ts";
import { platform } from "./platform.ts";

export const mutants: readonly Mutant[] = [
  ...paymentsRules,
  ...paymentsSettlement,
  ...paymentsStores,
  ...paymentsFlows,
  ...paymentsDisputes,
  ...paymentsProcessor,
  ...connectors,
  ...checkout,
  ...platform,
];
