// The screens of the operators' console, in the order of the navigation.
import type { ConsoleContext } from "../session/visit.ts";
import { adjustmentsRoutes } from "./operators/journal/adjustments.ts";
import { journalRoutes } from "./operators/journal/entries.ts";
import { proposeRoutes } from "./operators/journal/propose.ts";
import { trialBalanceRoutes } from "./operators/journal/trial-balance.ts";
import { applicationsRoutes } from "./operators/merchants/applications.ts";
import { merchantRoutes, merchantsRoutes } from "./operators/merchants/merchants.ts";
import { overviewRoutes } from "./operators/merchants/overview.ts";
import { circuitsRoutes } from "./operators/money/circuits.ts";
import { feesRoutes } from "./operators/money/fees.ts";
import { operationsRoutes } from "./operators/money/operations.ts";
import { statementsRoutes } from "./operators/money/statements.ts";
import { storyRoutes } from "./operators/money/story.ts";
import { suspenseRoutes } from "./operators/money/suspense.ts";
import { auditRoutes } from "./operators/people/audit.ts";
import { peopleRoutes } from "./operators/people/people.ts";
import { riskDecisionRoutes } from "./operators/risk/decisions.ts";
import { riskRoutes, riskRuleRoutes } from "./operators/risk/rules.ts";

export function operatorScreens(context: ConsoleContext): void {
  overviewRoutes(context);
  merchantsRoutes(context);
  merchantRoutes(context);
  applicationsRoutes(context);
  operationsRoutes(context);
  suspenseRoutes(context);
  statementsRoutes(context);
  storyRoutes(context);
  journalRoutes(context);
  trialBalanceRoutes(context);
  adjustmentsRoutes(context);
  proposeRoutes(context);
  feesRoutes(context);
  circuitsRoutes(context);
  riskRoutes(context);
  riskRuleRoutes(context);
  riskDecisionRoutes(context);
  peopleRoutes(context);
  auditRoutes(context);
}
