// Every screen of the operators' console, in the order of its navigation.
import type { ConsoleContext } from "../session/visit.ts";
import { applicationsRoutes } from "./operators/merchants/applications.ts";
import { merchantRoutes } from "./operators/merchants/merchant.ts";
import { merchantsRoutes } from "./operators/merchants/merchants.ts";
import { auditRoutes } from "./operators/people/audit.ts";
import { peopleRoutes } from "./operators/people/people.ts";

export function operatorScreens(context: ConsoleContext): void {
  merchantsRoutes(context);
  merchantRoutes(context);
  applicationsRoutes(context);
  peopleRoutes(context);
  auditRoutes(context);
}
