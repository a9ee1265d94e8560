// The context of this service's flows and jobs, built in service.ts.
import type { Client } from "@connectrpc/connect";
import type { Database } from "#platform/database/database.ts";
import type { IdempotencyKeys } from "#platform/database/idempotency.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import type { HashKeys, Vault } from "#platform/secrets/vault.ts";
import type { ReadRepair } from "#platform/service/read-repair.ts";
import type { Log } from "#platform/telemetry/log.ts";
import type { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import type { ReceiptService } from "#proto/merchant/v1/receipts_pb.ts";
import type { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import type { Archive } from "../archive/archive.ts";
import type { CheckoutMetrics } from "./metrics.ts";
import type { RiskRules } from "./risk/rules-cache.ts";

export interface CheckoutContext {
  readonly db: Database;
  readonly outbox: Outbox;
  readonly vault: Vault;
  readonly log: Log;
  readonly metrics: CheckoutMetrics;
  readonly keys: IdempotencyKeys;
  /** Hash session secrets, return tokens and networks. */
  readonly hashKeys: HashKeys;
  readonly payments: Client<typeof PaymentsService>;
  /** undefined, as is `receipts`: no receipts are sent by e-mail. */
  readonly merchants: Client<typeof MerchantService> | undefined;
  readonly receipts: Client<typeof ReceiptService> | undefined;
  readonly riskRules: RiskRules;
  readonly readRepair: ReadRepair;
  /** Origin of the hosted checkout page; undefined: no hosted page. */
  readonly checkoutOrigin: string | undefined;
  readonly archive: Archive;
}
