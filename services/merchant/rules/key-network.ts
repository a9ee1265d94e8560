// Decides which networks of a live key are stored and which are reported as new.
import { type Cidr, cidrText, maskOf, parseCidr, rangeContains } from "#platform/values/address-range.ts";

/** Limit per key. A key with more networks has no usual location, so further ones are neither stored nor reported. */
export const networksMax = 64;

/** Gateways report an IPv4 /24 or an IPv6 /48 in canonical form. */
export function isKeyNetwork(text: string): boolean {
  try {
    const range = parseCidr(text);
    return range.bits === (range.bytes.length === 4 ? 24 : 48) && isNetwork(range) && cidrText(range) === text;
  } catch {
    return false;
  }
}

/**
 * A key's first network is stored but not reported.
 * @param known number of stored networks of the key
 * @param further other networks, in the order of their use
 */
export function furtherNetworks(known: number, further: readonly string[]): { kept: string[]; reported: string[] } {
  const kept = further.slice(0, Math.max(0, networksMax - known));
  return { kept, reported: known === 0 ? kept.slice(1) : kept };
}

/** False when bits after the prefix are set, which may be a typing error. */
export function isNetwork({ bytes, bits }: Cidr): boolean {
  return bytes.every((byte, i) => (byte & maskOf(i, bits)) === byte);
}

export function isWithin(inner: Cidr, outer: Cidr): boolean {
  return inner.bits >= outer.bits && rangeContains(outer, inner.bytes);
}
