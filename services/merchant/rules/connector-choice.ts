// Chooses the connector account of a new session, and checks a merchant's changes of accounts (docs/contract.md §8).
import type { MerchantStatus } from "./profile.ts";

export const surfaces = ["embedded", "hosted", "redirect"] as const;

export interface ConnectorFacts {
  readonly isPrimary: boolean;
  readonly isActive: boolean;
  readonly canBePrimary: boolean;
  readonly allowedSurfaces: readonly string[];
  readonly defaultSurface: string;
  /** The merchant's choice. */
  readonly selectedSurface: string | undefined;
  /** Offered by new sessions. */
  readonly paymentMethods: readonly string[];
}

type Choice<C> =
  | { readonly kind: "chosen"; readonly account: C; readonly fallbacks: readonly C[]; readonly others: readonly C[] }
  | { readonly kind: "refused"; readonly reason: "FORBIDDEN" | "NO_CONNECTOR" };

/**
 * The primary account serves a new session unless the routing or the session names another one. If the routing allows
 * the next account, the first of the other candidates by id are its fallbacks. Without an active primary account there
 * are no sessions, since the merchant chooses who processes the money.
 */
export function chooseConnector<C extends { readonly connector: ConnectorFacts & { readonly id: string } }>(
  status: MerchantStatus,
  candidates: readonly C[],
  fallbacksMax: number,
): Choice<C> {
  if (status !== "active") return { kind: "refused", reason: "FORBIDDEN" };
  const active = candidates.filter(({ connector }) => connector.isActive);
  const account = active.find(({ connector }) => connector.isPrimary);
  if (!account) return { kind: "refused", reason: "NO_CONNECTOR" };
  const rest = active.filter(({ connector }) => !connector.isPrimary && connector.canBePrimary);
  rest.sort((a, b) => (a.connector.id < b.connector.id ? -1 : 1));
  return { kind: "chosen", account, fallbacks: rest.slice(0, fallbacksMax), others: rest.slice(fallbacksMax) };
}

/** The simulator processes no real money and must not serve live (docs/contract.md §8). */
export function mayServe(account: { readonly connector: string; readonly isLive: boolean }): boolean {
  return !(account.isLive && account.connector === "simulator");
}

export interface ConnectorInput {
  readonly selectedSurface: string | undefined;
  readonly makePrimary: boolean;
}

export function isEligible(connector: ConnectorFacts, input: ConnectorInput): boolean {
  if (!connector.isActive) return false;
  if (input.makePrimary && !connector.canBePrimary) return false;
  return input.selectedSurface === undefined || connector.allowedSurfaces.includes(input.selectedSurface);
}

/** The surface of new sessions: the merchant's choice, else the account's default. */
export function surfaceOf(connector: Pick<ConnectorFacts, "defaultSurface" | "selectedSurface">): string {
  return connector.selectedSurface ?? connector.defaultSurface;
}
