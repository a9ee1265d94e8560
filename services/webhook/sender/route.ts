// Where a URL leads now: its host's addresses, each of them judged. One forbidden address among them refuses the whole
// name, since a name that points inside is not made harmless by its other records.
import type { Cidr } from "#platform/values/address-range.ts";
import { isAllowedAddress } from "../rules/address.ts";
import type { Target } from "../rules/target.ts";
import { isLocalhost, type Resolver } from "./resolver.ts";

/** The host leads, also or only, to an address that deliveries must not go to. */
export class BlockedAddress extends Error {
  override name = "BlockedAddress";
}

// Further addresses of a name that does not answer cost the attempt's time.
const addressesMax = 3;

/**
 * @returns addresses to connect to, IPv4 first, at most three
 * @throws BlockedAddress, or ResolveError when the name has no address
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
  // The machine's own name stands for both loopback addresses, of which the operator may have allowed one.
  const judged = isLocalhost(target.host) ? addresses.filter((a) => isAllowedAddress(a, allow)) : addresses;
  if (judged.length === 0 || !judged.every((a) => isAllowedAddress(a, allow))) throw new BlockedAddress();
  return judged.slice(0, addressesMax);
}
