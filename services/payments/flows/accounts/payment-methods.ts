// Payment methods of merchants' accounts: those that a new payment offers, and the merchant's choice. Phases of a
// choice, each one repeatable call: 1 the stored account (merchant) · 2 store (merchant).
import { Failure, type Violation } from "#platform/values/failure.ts";
import type { Connector as ConnectorMessage } from "#proto/merchant/v1/merchant_pb.ts";
import type { ProcessorAccount } from "../../connectors/connector.ts";
import type { Connectors } from "../../connectors/registry.ts";
import type { CaptureMethod } from "../../rules/payment.ts";
import { type MethodTerms, offerMethods } from "../../rules/payment-method.ts";
import { type ConnectorAccountDeps, type ConnectorKey, ownAccount } from "./connector-accounts.ts";

/** An account with the types of methods that the payment offers there. */
export type OfferingAccount = ProcessorAccount & { readonly offered: readonly string[] };

interface MethodRequest {
  /** Empty: those that the account offers. */
  readonly paymentMethods: readonly string[];
  readonly currency: string;
  readonly captureMethod: CaptureMethod;
}

/** The accounts that can offer the methods. @throws Failure INVALID_BODY: none of several can. */
export function offeringAccounts(
  { connectors }: { readonly connectors: Connectors },
  accounts: readonly ProcessorAccount[],
  request: MethodRequest,
): readonly OfferingAccount[] {
  const violations: Violation[] = [];
  const offering = accounts.flatMap((account) => {
    const { methods } = connectors.get(account.connector);
    const offer = offerMethods(methods, account.methods ?? ["card"], request.paymentMethods, request);
    if ("methods" in offer) return [{ ...account, offered: offer.methods }];
    if (violations.length === 0) violations.push(...offer.problems);
    return [];
  });
  if (offering.length === 0 && violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  return offering;
}

/** The types that a payment still offers at another account; undefined: none. */
export function offeredThere(
  { connectors }: { readonly connectors: Connectors },
  account: ProcessorAccount,
  order: Omit<MethodRequest, "paymentMethods"> & { readonly offeredMethods?: readonly string[] | undefined },
): readonly string[] | undefined {
  const { methods } = connectors.get(account.connector);
  const offer = offerMethods(methods, account.methods ?? ["card"], [], order);
  const offered = "methods" in offer ? offer.methods : [];
  const kept = offered.filter((type) => order.offeredMethods?.includes(type) ?? true);
  return kept.length > 0 ? kept : undefined;
}

/** @throws Failure NOT_FOUND. */
export async function listMethods(
  deps: ConnectorAccountDeps,
  named: ConnectorKey,
): Promise<{ readonly methods: readonly MethodTerms[]; readonly chosen: readonly string[] }> {
  const { connector, account } = await ownAccount(deps, named);
  return { methods: connector.methods, chosen: account.methods ?? ["card"] };
}

/** @throws Failure NOT_FOUND, INVALID_BODY. */
export async function chooseMethods(
  deps: ConnectorAccountDeps,
  { paymentMethods, ...named }: ConnectorKey & { readonly paymentMethods: readonly string[] },
): Promise<ConnectorMessage | undefined> {
  const { connector } = await ownAccount(deps, named);
  const violations = paymentMethods.flatMap((type, i) => {
    const isKnown = connector.methods.some((terms) => terms.type === type);
    const isRepeated = paymentMethods.indexOf(type) !== i;
    const problem = isRepeated ? "must not be repeated" : isKnown ? undefined : "must be a method of the connector";
    return problem === undefined ? [] : [{ field: `payment_methods[${i}]`, problem }];
  });
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const { merchantId, environment, connectorId } = named;
  const stored = await deps.merchants.setPaymentMethods({
    ...{ merchantId, environment, connectorId },
    paymentMethods: [...paymentMethods],
  });
  deps.accounts.forget();
  return stored.connector;
}
