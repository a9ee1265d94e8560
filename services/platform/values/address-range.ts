// IP address ranges such as `10.0.0.0/8` or `fd00::/8`: parsing, canonical text and comparison. Pure.
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Address bytes (4 or 16) and prefix length in bits. */
export interface Cidr {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

/** @throws with a short reason */
export function parseCidr(text: string): Cidr {
  const [address = "", length = "", ...rest] = text.split("/");
  const bytes = addressBytes(address);
  const bits = Number(length);
  if (bytes === undefined || rest.length > 0 || !/^\d{1,3}$/.test(length) || bits > bytes.length * 8) {
    throw new Error("must be address ranges like 10.0.0.0/8 or fd00::/8");
  }
  return { bytes, bits };
}

/** Canonical text: the shortest spelling of the address (RFC 5952), always with a prefix. */
export function cidrText({ bytes, bits }: Cidr): string {
  return `${ipaddr.fromByteArray([...bytes]).toString()}/${bits}`;
}

/** 4 or 16 bytes, or undefined unless the text is one plain address without a zone index. */
export function addressBytes(address: string): Uint8Array | undefined {
  if (isIP(address) === 0 || address.includes("%")) return undefined;
  return Uint8Array.from(ipaddr.parse(address).toByteArray());
}

/** Bytes of a caller's address: the zone index is dropped, and IPv4 written as IPv6 becomes IPv4. */
export function callerBytes(address: string): Uint8Array | undefined {
  const [bare = ""] = address.split("%");
  const bytes = addressBytes(bare);
  return bytes && plainRange({ bytes, bits: bytes.length * 8 }).bytes;
}

/** Converts an IPv4-mapped IPv6 range (`::ffff:0:0/96`) to its IPv4 range. */
export function plainRange(range: Cidr): Cidr {
  const isMapped = range.bytes.length === 16 && range.bits >= mapped.bits && rangeContains(mapped, range.bytes);
  return isMapped ? { bytes: range.bytes.slice(12), bits: range.bits - mapped.bits } : range;
}

const mapped = parseCidr("::ffff:0:0/96");

export function rangeContains(range: Cidr, bytes: Uint8Array): boolean {
  if (range.bytes.length !== bytes.length) return false;
  for (let i = 0; i * 8 < range.bits; i++) {
    const mask = maskOf(i, range.bits);
    if (((range.bytes[i] ?? 0) & mask) !== ((bytes[i] ?? 0) & mask)) return false;
  }
  return true;
}

/** The bits of this byte that belong to the prefix. */
export function maskOf(index: number, bits: number): number {
  return 0xff & (0xff << Math.min(8, Math.max(0, 8 - (bits - index * 8))));
}

// Rate limits treat these as one caller: an IPv4 address, or the /64 of an IPv6 address, the least that a customer
// gets. A rented server may have a /48, which contains 65,536 of them.

/**
 * The address, or the first four groups of an IPv6 address. All invalid texts count as one caller, which otherwise
 * could evade a limit by changing the text.
 */
export function networkOf(address: string): string {
  return firstGroups(address, 4);
}

/** The address, or the first three groups of an IPv6 address: the most that one customer gets. */
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
