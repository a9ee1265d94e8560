// What counts as one caller among addresses: an IPv4 address, or the /64 of an IPv6 one, which is the least that one
// customer has. Who rents a server may have a /48, which is 65,536 of them.
import { callerBytes, cidrText, networkAround } from "./address-range.ts";

/**
 * Where somebody is, roughly: the /24 of an IPv4 address, the /48 of an IPv6 one, written as a network; undefined: no
 * address.
 */
export function neighbourhoodOf(address: string): string | undefined {
  const bytes = callerBytes(address);
  return bytes && cidrText(networkAround(bytes, bytes.length === 4 ? 24 : 48));
}

/**
 * The address, or the first four groups of an IPv6 address; IPv4 written as IPv6 is IPv4. All that is no address is one
 * caller: whoever could choose it would be another one each time.
 */
export function networkOf(address: string): string {
  return firstGroups(address, 4);
}

/** The address, or the first three groups of an IPv6 address: the most that one customer has. */
export function siteOf(address: string): string {
  return firstGroups(address, 3);
}

function firstGroups(address: string, count: number): string {
  const bytes = callerBytes(address);
  if (bytes === undefined) return "unreadable";
  if (bytes.length === 4) return bytes.join(".");
  const group = (i: number) => ((bytes[2 * i] ?? 0) * 256 + (bytes[2 * i + 1] ?? 0)).toString(16);
  return Array.from({ length: count }, (_, i) => group(i)).join(":");
}
