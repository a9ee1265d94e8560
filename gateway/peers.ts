// Typed clients for the four services, one connection per service.
import type { Client } from "@connectrpc/connect";
import type { Host } from "#platform/process/host.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { PaymentLinkService } from "#proto/checkout/v1/links_pb.ts";
import { PrivacyService } from "#proto/checkout/v1/privacy_pb.ts";
import { Health } from "#proto/grpc/health/v1/health_pb.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import {
  ApiKeyService,
  ApplicationService,
  ConnectorService,
  type Environment,
  type GetBrandingResponse,
  MerchantService,
} from "#proto/merchant/v1/merchant_pb.ts";
import { BalanceService } from "#proto/payments/v1/balance_pb.ts";
import { DisputeService } from "#proto/payments/v1/disputes_pb.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { ReportService } from "#proto/payments/v1/reports_pb.ts";
import { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import type { GatewayConfig } from "./settings.ts";

export type ServiceName = "checkout" | "payments" | "merchant" | "webhook";

export interface Peers {
  readonly checkout: Client<typeof CheckoutService>;
  readonly links: Client<typeof PaymentLinkService>;
  readonly privacy: Client<typeof PrivacyService>;
  readonly payments: Client<typeof PaymentsService>;
  readonly disputes: Client<typeof DisputeService>;
  readonly balance: Client<typeof BalanceService>;
  readonly reports: Client<typeof ReportService>;
  readonly merchants: Client<typeof MerchantService>;
  /** Branding of a merchant's pages; concurrent requests share one call. */
  brandingOf(owner: { readonly merchantId: string; readonly environment: Environment }): Promise<GetBrandingResponse>;
  readonly audit: Client<typeof AuditService>;
  readonly apiKeys: Client<typeof ApiKeyService>;
  readonly connectors: Client<typeof ConnectorService>;
  readonly applications: Client<typeof ApplicationService>;
  readonly webhooks: Client<typeof WebhookService>;
  readonly health: Readonly<Record<ServiceName, Client<typeof Health>>>;
  close(): void;
}

/** Connects lazily: an unavailable service fails its calls, not the start. */
export function connectPeers(
  config: Pick<
    GatewayConfig,
    "CHECKOUT_URL" | "PAYMENTS_URL" | "MERCHANT_URL" | "WEBHOOK_URL" | "RPC_TOKEN_FILE" | "RPC_CA_FILE"
  >,
  { neighbours }: Pick<Host, "neighbours">,
): Peers {
  const peer = (url: string) =>
    connectPeer({ url, token: config.RPC_TOKEN_FILE, caFile: config.RPC_CA_FILE, neighbours });
  const checkout = peer(config.CHECKOUT_URL);
  const payments = peer(config.PAYMENTS_URL);
  const merchant = peer(config.MERCHANT_URL);
  const webhook = peer(config.WEBHOOK_URL);
  const merchants = merchant.client(MerchantService);
  const brandings = new Map<string, Promise<GetBrandingResponse>>();
  return {
    checkout: checkout.client(CheckoutService),
    links: checkout.client(PaymentLinkService),
    privacy: checkout.client(PrivacyService),
    payments: payments.client(PaymentsService),
    disputes: payments.client(DisputeService),
    balance: payments.client(BalanceService),
    reports: payments.client(ReportService),
    merchants,
    brandingOf: (owner) => {
      const key = `${owner.merchantId}/${owner.environment}`;
      const current = brandings.get(key) ?? merchants.getBranding(owner).finally(() => brandings.delete(key));
      brandings.set(key, current);
      return current;
    },
    audit: merchant.client(AuditService),
    apiKeys: merchant.client(ApiKeyService),
    connectors: merchant.client(ConnectorService),
    applications: merchant.client(ApplicationService),
    webhooks: webhook.client(WebhookService),
    health: {
      checkout: checkout.client(Health),
      payments: payments.client(Health),
      merchant: merchant.client(Health),
      webhook: webhook.client(Health),
    },
    close: () => {
      for (const each of [checkout, payments, merchant, webhook]) each.close();
    },
  };
}
