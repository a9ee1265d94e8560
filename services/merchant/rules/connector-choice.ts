// Which connector account serves a new session, and what a merchant may change about an account (docs/contract.md §8).
// Pure.
import type { MerchantStatus } from "./profile.ts";

export const surfaces = ["embedded", "hosted", "redirect"] as const;
export type Surface = (typeof surfaces)[number];

export interface ConnectorFacts {
  readonly isPrimary: boolean;
  readonly isActive: boolean;
  readonly canBePrimary: boolean;
  readonly allowedSurfaces: readonly string[];
  readonly defaultSurface: string;
  /** The merchant's choice; undefined: none. */
  readonly selectedSurface: string | undefined;
}

export type Choice<C> =
  | { readonly kind: "chosen"; readonly account: C; readonly fallbacks: readonly C[] }
  | { readonly kind: "refused"; readonly reason: "FORBIDDEN" | "NO_CONNECTOR" };

/**
 * The account for a new session: the merchant's primary one, if it is active and the merchant is; the other candidates
 * stand in for it, in their order. Without an active primary account there are no sessions: who takes the money is the
 * merchant's choice.
 */
export function chooseConnector<C extends { readonly connector: ConnectorFacts }>(
  status: MerchantStatus,
  candidates: readonly C[],
): Choice<C> {
  if (status !== "active") return { kind: "refused", reason: "FORBIDDEN" };
  const active = candidates.filter(({ connector }) => connector.isActive);
  const account = active.find(({ connector }) => connector.isPrimary);
  if (!account) return { kind: "refused", reason: "NO_CONNECTOR" };
  const fallbacks = active.filter(({ connector }) => !connector.isPrimary && connector.canBePrimary);
  return { kind: "chosen", account, fallbacks };
}

/** False for the simulator's accounts in the live environment: nobody pays there (docs/contract.md §8). */
export function mayServe(account: { readonly connector: string; readonly isLive: boolean }): boolean {
  return !(account.isLive && account.connector === "simulator");
}

/** What a merchant asks to be changed. */
export interface ConnectorInput {
  readonly selectedSurface: string | undefined;
  readonly makePrimary: boolean;
}

/** True when the account may be changed so: it is active, may be primary if it is to be, and allows the surface. */
export function isEligible(connector: ConnectorFacts, input: ConnectorInput): boolean {
  if (!connector.isActive) return false;
  if (input.makePrimary && !connector.canBePrimary) return false;
  return input.selectedSurface === undefined || connector.allowedSurfaces.includes(input.selectedSurface);
}

/** The surface of new sessions: the merchant's choice, else the account's default. */
export function surfaceOf(connector: Pick<ConnectorFacts, "defaultSurface" | "selectedSurface">): string {
  return connector.selectedSurface ?? connector.defaultSurface;
}
