// Resolves a URL's host and checks every address. One forbidden address refuses the whole name, since a name that
// points to an internal address is hostile.
import type { Cidr } from "#platform/values/address-range.ts";
import { isAllowedAddress } from "../rules/address.ts";
import type { Target } from "../rules/target.ts";
import { isLocalhost, type Resolver } from "./resolver.ts";

export class BlockedAddress extends Error {
  override name = "BlockedAddress";
}

// Each further address that does not answer costs attempt time.
const addressesMax = 3;

/**
 * @returns addresses to connect to, IPv4 first, at most three
 * @throws BlockedAddress, or ResolveError if the name has no address
 */
export async function findRoute(
  target: Target,
  resolver: Resolver,
  allow: readonly Cidr[],
): Promise<readonly string[]> {
  if (target.isAddress) {
    if (!isAllowedAddress(target.host, allow)) throw new BlockedAddress();
    return [target.host];
  }
  const addresses = await resolver.resolve(target.host);
  const permitted = addresses.filter((a) => isAllowedAddress(a, allow));
  // `localhost` has both loopback addresses, and the operator may have allowed only one.
  const isBlocked = permitted.length < addresses.length && !isLocalhost(target.host);
  if (permitted.length === 0 || isBlocked) throw new BlockedAddress();
  return permitted.slice(0, addressesMax);
}
