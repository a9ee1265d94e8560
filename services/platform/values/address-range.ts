// Ranges of IP addresses, as `10.0.0.0/8` or `fd00::/8`: read, written in one form, and compared. Pure.
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** A range of addresses: its bytes (4 or 16) and the length of its prefix in bits. */
export interface Cidr {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

/** Parses `10.0.0.0/8` or `fd00::/8`. @throws with a short reason */
export function parseCidr(text: string): Cidr {
  const [address = "", length = "", ...rest] = text.split("/");
  const bytes = addressBytes(address);
  const bits = Number(length);
  if (bytes === undefined || rest.length > 0 || !/^\d{1,3}$/.test(length) || bits > bytes.length * 8) {
    throw new Error("must be address ranges like 10.0.0.0/8 or fd00::/8");
  }
  return { bytes, bits };
}

/** The one form of a range: the shortest spelling of its address (RFC 5952), and always its prefix. */
export function cidrText({ bytes, bits }: Cidr): string {
  return `${ipaddr.fromByteArray([...bytes]).toString()}/${bits}`;
}

/** 4 or 16 bytes; undefined for anything that is not one plain address (a zone index is not plain). */
export function addressBytes(address: string): Uint8Array | undefined {
  if (isIP(address) === 0 || address.includes("%")) return undefined;
  return Uint8Array.from(ipaddr.parse(address).toByteArray());
}

/** The same for the address that a caller has: its zone does not count, and IPv4 written as IPv6 is IPv4. */
export function callerBytes(address: string): Uint8Array | undefined {
  const [bare = ""] = address.split("%");
  const bytes = addressBytes(bare);
  return bytes && plainRange({ bytes, bits: bytes.length * 8 }).bytes;
}

/** A range of IPv4 addresses that are written as IPv6 (`::ffff:0:0/96` and within) as the IPv4 range that it is. */
export function plainRange(range: Cidr): Cidr {
  const isMapped = range.bytes.length === 16 && range.bits >= mapped.bits && contains(mapped, range.bytes);
  return isMapped ? { bytes: range.bytes.slice(12), bits: range.bits - mapped.bits } : range;
}

const mapped = parseCidr("::ffff:0:0/96");

/** The network of so many bits that the address is in. */
export function networkAround(address: Uint8Array, bits: number): Cidr {
  return { bytes: address.map((byte, i) => byte & maskOf(i, bits)), bits };
}

/** False when bits after the prefix are set: then it may be an address and its network, or a slip. */
export function isNetwork({ bytes, bits }: Cidr): boolean {
  return bytes.every((byte, i) => (byte & maskOf(i, bits)) === byte);
}

export function contains(range: Cidr, bytes: Uint8Array): boolean {
  if (range.bytes.length !== bytes.length) return false;
  for (let i = 0; i * 8 < range.bits; i++) {
    const mask = maskOf(i, range.bits);
    if (((range.bytes[i] ?? 0) & mask) !== ((bytes[i] ?? 0) & mask)) return false;
  }
  return true;
}

/** True when no address is in the inner range alone. */
export function isWithin(inner: Cidr, outer: Cidr): boolean {
  return inner.bits >= outer.bits && contains(outer, inner.bytes);
}

/** What of the byte at this place belongs to a prefix of so many bits. */
function maskOf(index: number, bits: number): number {
  return 0xff & (0xff << Math.min(8, Math.max(0, 8 - (bits - index * 8))));
}

// What counts as one caller among addresses: an IPv4 address, or the /64 of an IPv6 one, which is the least that one
// customer has. Who rents a server may have a /48, which is 65,536 of them.

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
