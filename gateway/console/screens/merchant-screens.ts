// Every screen of the merchants' console, in the order of its navigation.
import type { ConsoleContext } from "../session/visit.ts";
import { paymentsRoutes } from "./money/payments.ts";

export function merchantScreens(context: ConsoleContext): void {
  paymentsRoutes(context);
}
