// What the flows and jobs of this service work with; wired by hand in service.ts.
import type { Client } from "@connectrpc/connect";
import type { Database } from "#platform/database.ts";
import type { HashKeys } from "#platform/hash-keys.ts";
import type { IdempotencyKeys } from "#platform/idempotency.ts";
import type { Log } from "#platform/log.ts";
import type { Outbox } from "#platform/outbox.ts";
import type { Vault } from "#platform/secret.ts";
import type { StaleReads } from "#platform/stale-read.ts";
import type { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import type { RiskRules } from "./risk-rules.ts";

export interface CheckoutContext {
  readonly db: Database;
  readonly outbox: Outbox;
  readonly vault: Vault;
  readonly log: Log;
  readonly keys: IdempotencyKeys;
  /** For session secrets. */
  readonly hashKeys: HashKeys;
  readonly payments: Client<typeof PaymentsService>;
  readonly riskRules: RiskRules;
  readonly staleReads: StaleReads;
  /** Origin of the hosted checkout page; undefined: there is none. */
  readonly checkoutOrigin: string | undefined;
}
