// What the flows of this service work with; wired by hand in service.ts.
import type { MappedDatabase } from "#platform/database/mapped-database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import type { Wake } from "#platform/process/job.ts";
import type { HashKeys, Vault } from "#platform/secrets/vault.ts";
import type { Log } from "#platform/telemetry/log.ts";
import type { IdentityProvider } from "./flows/sign-in/provider.ts";
import type { MerchantMetrics } from "./metrics.ts";
import type { Doors } from "./rules/people/door.ts";

export interface MerchantContext {
  readonly db: MappedDatabase;
  readonly outbox: Outbox;
  readonly log: Log;
  readonly metrics: MerchantMetrics;
  readonly vault: Vault;
  /** For API keys, and for the secrets of sessions and links. */
  readonly hashKeys: HashKeys;
  /** What the simulator's operator gave us; every sandbox account is opened with it. */
  readonly simulator: { readonly secretKey: string; readonly webhookSecret: string };
  /** The consoles that people can come in by. */
  readonly doors: Doors;
  /** Mail can be sent. */
  readonly canMail: boolean;
  /** Receipts that a merchant may mail within an hour in live. */
  readonly receiptsPerHour: number;
  /** The company's; undefined: there is none. */
  readonly provider: IdentityProvider | undefined;
  /** Wakes the job that sends it. */
  readonly mails: Wake;
}
