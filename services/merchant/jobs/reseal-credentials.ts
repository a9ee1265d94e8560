// Brings credentials under the vault's current key, so that an older key can be taken out of ENCRYPTION_KEYS when none is left.
import type { Log } from "#platform/log.ts";
import type { MerchantContext } from "../flows/context.ts";
import { resealCredentials } from "../flows/open-account.ts";
import { findSealedOtherwise, replaceSeal } from "../store/connectors.ts";

// A batch is a fraction of a second; a merchant has a handful of accounts.
const batchMax = 200;

/** One that no key opens is told and does not keep the others. @returns true when there may be more. */
export async function resealOld({ db, vault }: Pick<MerchantContext, "db" | "vault">, log: Log): Promise<boolean> {
  let resealed = 0;
  for (const row of await findSealedOtherwise(db, vault.currentKeyId, batchMax)) {
    try {
      await replaceSeal(db, row, resealCredentials(vault, row.id, row.credentials));
      resealed += 1;
    } catch (error) {
      log.error({ err: error, connector_account_id: row.id }, "credentials that no encryption key opens");
    }
  }
  if (resealed > 0) log.info({ accounts: resealed }, "credentials sealed anew under the current key");
  return resealed === batchMax;
}
