// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller } from "../caller.ts";
import { ApiKeysResource } from "./api-keys.ts";
import { ApiRequestsResource } from "./api-requests.ts";
import { ApplicationsResource } from "./applications.ts";
import { AuditLogResource } from "./audit-log.ts";
import { CheckoutSessionsResource } from "./checkout-sessions.ts";
import { ConnectorsResource } from "./connectors.ts";
import { DisputesResource } from "./disputes.ts";
import { EventTypesResource } from "./event-types.ts";
import { EventsResource } from "./events.ts";
import { MerchantResource } from "./merchant.ts";
import { PaymentsResource } from "./payments.ts";
import { RefundsResource } from "./refunds.ts";
import { WebhookEndpointsResource } from "./webhook-endpoints.ts";

export * from "./api-keys.ts";
export * from "./api-requests.ts";
export * from "./applications.ts";
export * from "./audit-log.ts";
export * from "./checkout-sessions.ts";
export * from "./connectors.ts";
export * from "./disputes.ts";
export * from "./event-types.ts";
export * from "./events.ts";
export * from "./merchant.ts";
export * from "./payments.ts";
export * from "./refunds.ts";
export * from "./webhook-endpoints.ts";

/** One object for each noun of the API. */
export class Resources {
  readonly checkoutSessions: CheckoutSessionsResource;
  readonly payments: PaymentsResource;
  readonly refunds: RefundsResource;
  readonly disputes: DisputesResource;
  readonly webhookEndpoints: WebhookEndpointsResource;
  readonly merchant: MerchantResource;
  readonly connectors: ConnectorsResource;
  readonly apiKeys: ApiKeysResource;
  readonly eventTypes: EventTypesResource;
  readonly events: EventsResource;
  readonly apiRequests: ApiRequestsResource;
  readonly auditLog: AuditLogResource;
  readonly applications: ApplicationsResource;

  constructor(caller: Caller) {
    this.checkoutSessions = new CheckoutSessionsResource(caller);
    this.payments = new PaymentsResource(caller);
    this.refunds = new RefundsResource(caller);
    this.disputes = new DisputesResource(caller);
    this.webhookEndpoints = new WebhookEndpointsResource(caller);
    this.merchant = new MerchantResource(caller);
    this.connectors = new ConnectorsResource(caller);
    this.apiKeys = new ApiKeysResource(caller);
    this.eventTypes = new EventTypesResource(caller);
    this.events = new EventsResource(caller);
    this.apiRequests = new ApiRequestsResource(caller);
    this.auditLog = new AuditLogResource(caller);
    this.applications = new ApplicationsResource(caller);
  }
}
