// Typed clients of the services that the consoles call, one connection per service.
import type { Host } from "#platform/process/host.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { PaymentLinkService } from "#proto/checkout/v1/links_pb.ts";
import { PrivacyService } from "#proto/checkout/v1/privacy_pb.ts";
import { RiskService } from "#proto/checkout/v1/risk_pb.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import {
  ApiKeyService,
  ApplicationService,
  ConnectorService,
  MerchantService,
} from "#proto/merchant/v1/merchant_pb.ts";
import { PeopleService, SignInService } from "#proto/merchant/v1/people_pb.ts";
import { ReceiptService } from "#proto/merchant/v1/receipts_pb.ts";
import { BalanceService } from "#proto/payments/v1/balance_pb.ts";
import { DisputeService } from "#proto/payments/v1/disputes_pb.ts";
import { FeeService } from "#proto/payments/v1/fee_pb.ts";
import { JournalService } from "#proto/payments/v1/journal_pb.ts";
import { LedgerService } from "#proto/payments/v1/ledger_pb.ts";
import { OperatorService } from "#proto/payments/v1/operator_pb.ts";
import { ConnectorAccountService, PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { ReportService } from "#proto/payments/v1/reports_pb.ts";
import { StatementService } from "#proto/payments/v1/statement_pb.ts";
import { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import type { ConsoleConfig } from "./settings.ts";

export type ConsolePeers = ReturnType<typeof connectConsolePeers>;

/** Connects lazily: a service that is down breaks its part of a page, not the start. */
export function connectConsolePeers(config: ConsoleConfig, { neighbours }: Pick<Host, "neighbours">) {
  const peer = (url: string) =>
    connectPeer({ url, token: config.RPC_TOKEN_FILE, caFile: config.RPC_CA_FILE, neighbours });
  const checkout = peer(config.CHECKOUT_URL);
  const payments = peer(config.PAYMENTS_URL);
  const merchant = peer(config.MERCHANT_URL);
  const webhook = peer(config.WEBHOOK_URL);
  return {
    signIn: merchant.client(SignInService),
    people: merchant.client(PeopleService),
    merchants: merchant.client(MerchantService),
    apiKeys: merchant.client(ApiKeyService),
    connectors: merchant.client(ConnectorService),
    applications: merchant.client(ApplicationService),
    audit: merchant.client(AuditService),
    receipts: merchant.client(ReceiptService),
    checkout: checkout.client(CheckoutService),
    links: checkout.client(PaymentLinkService),
    privacy: checkout.client(PrivacyService),
    risk: checkout.client(RiskService),
    payments: payments.client(PaymentsService),
    disputes: payments.client(DisputeService),
    balance: payments.client(BalanceService),
    reports: payments.client(ReportService),
    accounts: payments.client(ConnectorAccountService),
    operations: payments.client(OperatorService),
    statements: payments.client(StatementService),
    fees: payments.client(FeeService),
    journal: payments.client(JournalService),
    ledger: payments.client(LedgerService),
    webhooks: webhook.client(WebhookService),
    close: () => {
      for (const each of [checkout, payments, merchant, webhook]) each.close();
    },
  };
}
