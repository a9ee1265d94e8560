// The dependencies of this service's flows, wired in service.ts.
import type { Outbox } from "#platform/events/outbox.ts";
import type { Wake } from "#platform/process/job.ts";
import type { HashKeys, Vault } from "#platform/secrets/vault.ts";
import type { Log } from "#platform/telemetry/log.ts";
import type { IdentityProvider } from "./flows/sign-in/provider.ts";
import type { WorkloadVerifier } from "./flows/verify-workload.ts";
import type { MerchantMetrics } from "./metrics.ts";
import type { Doors } from "./rules/people/door.ts";
import type { MappedDatabase } from "./store/mapped-database.ts";

export interface MerchantContext {
  readonly db: MappedDatabase;
  readonly outbox: Outbox;
  readonly log: Log;
  readonly metrics: MerchantMetrics;
  readonly vault: Vault;
  /** For API keys, and for the secrets of sessions and links. */
  readonly hashKeys: HashKeys;
  /** The simulator's credentials for every sandbox account. */
  readonly simulator: { readonly secretKey: string; readonly webhookSecret: string };
  readonly doors: Doors;
  readonly canMail: boolean;
  /** Limit per merchant in live. */
  readonly receiptsPerHour: number;
  /** The company's identity provider, if one is configured. */
  readonly provider: IdentityProvider | undefined;
  /** Verifies tokens of the cluster's service accounts, if they may be teams. */
  readonly workloads?: WorkloadVerifier | undefined;
  readonly mails: Wake;
}
