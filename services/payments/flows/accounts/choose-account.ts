// Chooses the accounts that may take a new session: the one that the session names, else those of the merchant's
// routing, else the primary one; in order of use. Also the preview of that choice for the console.
import { Failure, invalidField } from "#platform/values/failure.ts";
import type { ProcessorAccount } from "../../connectors/connector.ts";
import type { Connectors } from "../../connectors/registry.ts";
import type { CaptureMethod } from "../../rules/payment.ts";
import { matchRule, type PaymentRouting, type RoutedOrder, turnOf } from "../../rules/routing.ts";
import type { Accounts, ActiveAccounts } from "./ask-processor.ts";
import { type OfferingAccount, offeredThere } from "./payment-methods.ts";

interface ChooseDeps {
  readonly connectors: Connectors;
}

type Order = RoutedOrder & { readonly captureMethod: CaptureMethod };

interface ChosenAccounts {
  readonly accounts: readonly [ProcessorAccount, ...ProcessorAccount[]];
  readonly routing: PaymentRouting;
}

/**
 * @param request `connectorId`: of the account that the session names; may be empty
 * @throws Failure NO_CONNECTOR, INVALID_BODY (connector, capture_method).
 */
export function chooseAccounts(
  deps: ChooseDeps,
  active: ActiveAccounts,
  request: Order & { readonly id: string; readonly connectorId: string },
): ChosenAccounts {
  if (request.connectorId === "") return routeOrder(deps, active, request, turnOf(request.id));
  const named = [...active.accounts, ...active.others].filter(({ id }) => id === request.connectorId);
  const [account] = filterServing(deps, named);
  if (!account) throw invalidField("connector", "must be an active connector of yours that can be primary");
  filterCapable(deps, [account], request.captureMethod);
  return { accounts: [account], routing: { rule: undefined, reason: "session" } };
}

function routeOrder(deps: ChooseDeps, active: ActiveAccounts, order: Order, turn: number): ChosenAccounts {
  const match = ruleFor(deps, active, order, turn);
  const accounts = match?.accounts ?? filterCapable(deps, filterServing(deps, active.accounts), order.captureMethod);
  const [first, ...next] = accounts;
  if (!first) throw new Failure("NO_CONNECTOR");
  const routing = { rule: match?.rule, reason: match ? "rule" : "primary" } as const;
  return { accounts: [first, ...(active.onOutage === "next" ? next : [])], routing };
}

function ruleFor(deps: ChooseDeps, active: ActiveAccounts, order: Order, turn: number) {
  return matchRule(active.rules, order, usableAccounts(deps, active, order), turn);
}

function usableAccounts(deps: ChooseDeps, { accounts, others }: ActiveAccounts, { captureMethod }: Order) {
  return filterAble(deps, filterServing(deps, [...accounts, ...others]), captureMethod);
}

/**
 * The account for a payment that was declined at `connectorAccountId`: the first other one of its rule, or, without a
 * rule, of all, which is reachable and accepts the order on the same surface with a method that the payment offers.
 * undefined: none does
 */
export function chooseNext(
  deps: ChooseDeps,
  active: ActiveAccounts,
  declined: Order & {
    readonly id: string;
    readonly connectorAccountId: string;
    readonly surface: string;
    readonly offeredMethods?: readonly string[] | undefined;
  },
): OfferingAccount | undefined {
  const match = ruleFor(deps, active, declined, turnOf(declined.id));
  const accounts = match?.accounts ?? usableAccounts(deps, active, declined);
  const others = accounts.filter(
    (each) =>
      each.id !== declined.connectorAccountId &&
      each.surface === declined.surface &&
      !deps.connectors.isDown(each) &&
      deps.connectors.get(each.connector).refusesAmount(declined.amount, declined.currency) === undefined,
  );
  return others.flatMap((each) => {
    const offered = offeredThere(deps, each, declined);
    return offered ? [{ ...each, offered }] : [];
  })[0];
}

interface RoutingPreview {
  readonly connectorId: string;
  /** Percentage. */
  readonly share: number;
  readonly routing: PaymentRouting;
}

/** The accounts of such orders while all are reachable, the largest share first. @throws Failure as chooseAccounts. */
export async function previewRouting(
  deps: ChooseDeps & { readonly accounts: Accounts },
  { merchantId, environment, ...order }: Order & Pick<ProcessorAccount, "merchantId" | "environment">,
): Promise<RoutingPreview[]> {
  const active = await deps.accounts.active(merchantId, environment, "");
  const previews = new Map<number | undefined, RoutingPreview>();
  for (let turn = 0; turn < 100; turn++) {
    const { accounts, routing } = routeOrder(deps, active, order, turn);
    const share = (previews.get(routing.rule)?.share ?? 0) + 1;
    previews.set(routing.rule, { connectorId: accounts[0].id, share, routing });
  }
  return [...previews.values()].sort((a, b) => b.share - a.share);
}

/** The accounts that support the capture method. @throws Failure INVALID_BODY: none of several does. */
export function filterCapable(
  deps: ChooseDeps,
  accounts: readonly ProcessorAccount[],
  captureMethod: CaptureMethod,
): readonly ProcessorAccount[] {
  const able = filterAble(deps, accounts, captureMethod);
  if (accounts.length > 0 && able.length === 0) {
    throw invalidField("capture_method", "must be automatic: the connector cannot capture later");
  }
  return able;
}

function filterAble({ connectors }: ChooseDeps, accounts: readonly ProcessorAccount[], captureMethod: CaptureMethod) {
  return accounts.filter(({ connector }) => captureMethod === "automatic" || connectors.get(connector).capturesLater);
}

function filterServing({ connectors }: ChooseDeps, accounts: readonly ProcessorAccount[]) {
  return accounts.filter((account) => connectors.serves(account));
}
