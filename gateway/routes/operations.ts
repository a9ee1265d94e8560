// The operations of docs/contract.md, in the order of the OpenAPI document.
import type { GatewayContext } from "../auth/auth.ts";
import type { Peers } from "../peers.ts";
import { apiKeyRoutes } from "./api-keys.ts";
import { balanceRoutes } from "./balance.ts";
import { checkoutRoutes } from "./checkout.ts";
import { checkoutSessionRoutes } from "./checkout-sessions.ts";
import { connectorRoutes } from "./connectors.ts";
import { disputeFileRoutes, disputeRoutes } from "./disputes.ts";
import { eventRoutes } from "./events.ts";
import { logRoutes } from "./logs.ts";
import { merchantRoutes } from "./merchant.ts";
import { onboardingRoutes } from "./onboarding.ts";
import { paymentRoutes } from "./payments.ts";
import { privacyRoutes } from "./privacy.ts";
import { refundRoutes } from "./refunds.ts";
import { reportRoutes } from "./reports.ts";
import { routingRoutes } from "./routing.ts";
import { webhookDeliveryRoutes } from "./webhooks/deliveries.ts";
import { webhookEndpointRoutes } from "./webhooks/endpoints.ts";
import { webhookRunRoutes } from "./webhooks/runs.ts";

export function addOperations(context: GatewayContext, peers: Peers): void {
  checkoutSessionRoutes(context, peers);
  checkoutRoutes(context, peers);
  paymentRoutes(context, peers);
  refundRoutes(context, peers);
  disputeRoutes(context, peers);
  disputeFileRoutes(context, peers);
  balanceRoutes(context, peers);
  reportRoutes(context, peers);
  privacyRoutes(context, peers);
  webhookEndpointRoutes(context, peers);
  webhookDeliveryRoutes(context, peers);
  webhookRunRoutes(context, peers);
  merchantRoutes(context, peers);
  connectorRoutes(context, peers);
  routingRoutes(context, peers);
  apiKeyRoutes(context, peers);
  eventRoutes(context, peers);
  logRoutes(context, peers);
  onboardingRoutes(context, peers);
}
