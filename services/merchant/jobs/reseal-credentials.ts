// Brings credentials under the vault's current key, so that an older key can be taken out of ENCRYPTION_KEYS when none is left.
import type { Log } from "#platform/log.ts";
import type { MerchantContext } from "../flows/context.ts";
import { resealCredentials } from "../flows/open-account.ts";
import { findSealedOtherwise, replaceSeal } from "../store/connectors.ts";

// A batch is a fraction of a second; a merchant has a handful of accounts.
const batchMax = 200;

/** @returns true when there may be more. */
export async function resealOld({ db, vault }: Pick<MerchantContext, "db" | "vault">, log: Log): Promise<boolean> {
  const rows = await findSealedOtherwise(db, vault.currentKeyId, batchMax);
  for (const row of rows) await replaceSeal(db, row, resealCredentials(vault, row.id, row.credentials));
  if (rows.length > 0) log.info({ accounts: rows.length }, "credentials resealed under the current key");
  return rows.length === batchMax;
}
