// Finds connector accounts for payments: the one that a new session uses, or a certain one, also when it is inactive.
import type { Sql } from "#platform/database/database.ts";
import { Failure } from "#platform/values/failure.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { chooseConnector } from "../rules/connector-choice.ts";
import { type AccountRow, findAccountById, findAccountsByExternal, findCandidates } from "../store/connectors.ts";

/**
 * The primary, active account and those that may stand in for it.
 * @throws Failure NOT_FOUND (no such merchant), FORBIDDEN (not active), NO_CONNECTOR.
 */
export async function activeAccounts(
  sql: Sql,
  merchantId: string,
  environment: Environment,
): Promise<{ account: AccountRow; fallbacks: readonly AccountRow[] }> {
  const found = await findCandidates(sql, merchantId, environment);
  if (!found) throw new Failure("NOT_FOUND");
  const choice = chooseConnector(found.merchantStatus, found.accounts);
  if (choice.kind === "refused") throw new Failure(choice.reason);
  return choice;
}

/** How payments names an account: by our id, or by the processor's words. */
export type AccountName = { readonly id: string } | { readonly connector: string; readonly externalAccountId: string };

/** One account; by the processor's words perhaps one of each environment. @throws Failure NOT_FOUND. */
export async function namedAccounts(sql: Sql, name: AccountName): Promise<readonly [AccountRow, ...AccountRow[]]> {
  const found =
    "id" in name
      ? [await findAccountById(sql, name.id)].filter((account) => account !== undefined)
      : await findAccountsByExternal(sql, name.connector, name.externalAccountId);
  const [first, ...others] = found;
  if (!first) throw new Failure("NOT_FOUND");
  return [first, ...others];
}
