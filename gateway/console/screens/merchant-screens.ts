// Every screen of the merchants' console, in the order of its navigation.
import type { ConsoleContext } from "../session/visit.ts";
import { disputesRoutes } from "./money/disputes/list.ts";
import { homeRoutes } from "./money/home/home.ts";
import { linksRoutes } from "./money/links/list.ts";
import { paymentRoutes } from "./money/payment/payment.ts";
import { paymentsRoutes } from "./money/payments/list.ts";
import { refundsRoutes } from "./money/refunds.ts";

export function merchantScreens(context: ConsoleContext): void {
  homeRoutes(context);
  paymentsRoutes(context);
  paymentRoutes(context);
  refundsRoutes(context);
  disputesRoutes(context);
  linksRoutes(context);
}
