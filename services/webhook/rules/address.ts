// The IP addresses that a delivery may connect to: public unicast only, IPv4 addresses embedded in IPv6 refused.
// IPv4 has a list of forbidden ranges. IPv6 has an allowed range, since most of its space is special or unassigned.
import { addressBytes, type Cidr, parseCidr, rangeContains } from "#platform/values/address-range.ts";

// IANA special-purpose registry. 168.63.129.16 looks public but is Azure's internal service.
const forbidden4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
].map(parseCidr);

// Global unicast. All else (mapped, compatible, NAT64, unique local, link-local, multicast …) is forbidden.
const allowed6 = parseCidr("2000::/3");
// Protocol assignments such as Teredo and ORCHID; documentation; 6to4, which embeds any IPv4 address.
const forbidden6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"].map(parseCidr);

/** @param allow ranges that the operator allows in addition */
export function isAllowedAddress(address: string, allow: readonly Cidr[]): boolean {
  const bytes = addressBytes(address);
  if (bytes === undefined) return false;
  if (allow.some((range) => rangeContains(range, bytes))) return true;
  if (bytes.length === 4) return !forbidden4.some((range) => rangeContains(range, bytes));
  return rangeContains(allowed6, bytes) && !forbidden6.some((range) => rangeContains(range, bytes));
}

/** For the peer of a connected socket, which may report IPv4 as `::ffff:a.b.c.d`. */
export function isAllowedPeer(address: string, allow: readonly Cidr[]): boolean {
  return isAllowedAddress(/^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address, allow);
}
