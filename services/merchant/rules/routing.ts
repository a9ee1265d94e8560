// A merchant's routing between its accounts, and the checks of a replacement (docs/contract.md §8). Payments decides by
// it (services/payments/rules/routing.ts).
import { entryName, type Violation } from "#platform/values/failure.ts";
import { currencyExponent } from "#platform/values/money.ts";
import type { ConnectorFacts } from "./connector-choice.ts";

/** Empty text and 0 mean any, as in the stored JSON. */
export interface RoutingRule {
  readonly currency: string;
  readonly amountMin: number;
  readonly amountMax: number;
  readonly captureMethod: string;
  /** Accounts in order of use. */
  readonly use: readonly string[];
  /** Percentage of the matching payments; 0: all that earlier rules leave. */
  readonly share: number;
}

export interface Routing {
  readonly rules: readonly RoutingRule[];
  readonly onOutage: "next" | "stop";
  /** Failure codes after which a session gets one intent at the next account. */
  readonly declineCodes: readonly string[];
  /** 0: none is stored. */
  readonly version: number;
}

// Each new session reads the credentials of all of them.
export const routedAccountsMax = 10;

/** @param accounts the merchant's in the environment */
export function routingViolations(
  rules: readonly RoutingRule[],
  accounts: readonly (Pick<ConnectorFacts, "canBePrimary"> & { readonly id: string })[],
): Violation[] {
  const usable = new Set(accounts.flatMap(({ id, canBePrimary }) => (canBePrimary ? [id] : [])));
  const found = rules.flatMap((rule, i) => ruleViolations(entryName("rules", i), rule, usable));
  if (new Set(rules.flatMap(({ use }) => use)).size > routedAccountsMax) {
    found.push({ field: "rules", problem: `must name at most ${routedAccountsMax} accounts in all` });
  }
  return found;
}

function ruleViolations(rule: string, { currency, amountMin, amountMax, use }: RoutingRule, usable: Set<string>) {
  const found: Violation[] = [];
  if (currency !== "" && currencyExponent(currency) === undefined) {
    found.push({ field: `${rule}.when.currency`, problem: "must be an ISO 4217 currency code" });
  }
  if (amountMax > 0 && amountMin > amountMax) {
    found.push({ field: `${rule}.when.amount_max`, problem: "must be at least amount_min" });
  }
  use.forEach((id, i) => {
    if (usable.has(id)) return;
    const problem = "must be a connector of yours in this environment that can be primary";
    found.push({ field: `${rule}.${entryName("use", i)}`, problem });
  });
  return found;
}
