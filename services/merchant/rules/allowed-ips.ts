// The address ranges that a live key may be used from (docs/contract.md §7); an empty list allows every address.
import { addressBytes, type Cidr, cidrText, parseCidr, plainRange } from "#platform/values/address-range.ts";
import { isNetwork, isWithin } from "./key-network.ts";

/** Limit per key; every request is compared with each range. */
export const allowedIpsMax = 20;
// A wider range is no real limit. The largest blocks of one company are an IPv4 /8 and an IPv6 /19.
const widest4 = 8;
const widest6 = 16;

/** The canonical range, or the problem as a text for the caller. */
export function readRange(text: string): { readonly range: string } | { readonly problem: string } {
  const range = rangeOf(text);
  if (!range) return { problem: "must be an IP address, or a range of them as 203.0.113.0/24 or 2001:db8::/32" };
  if (!isNetwork(range)) {
    return {
      problem: "must be zero after its prefix, as 203.0.113.0/24; one address has no prefix, or /32 (IPv6: /128)",
    };
  }
  if (range.bits < (range.bytes.length === 4 ? widest4 : widest6)) {
    return {
      problem: `must not be wider than /${widest4} (IPv6: /${widest6}); leave allowed_ips out to allow every address`,
    };
  }
  return { range: cidrText(range) };
}

/** Whether each range is within one range of the limit. An empty list means every address. */
export function isLimitedBy(ranges: readonly string[], limit: readonly string[]): boolean {
  if (limit.length === 0) return true;
  const outer = limit.map(parseCidr);
  return ranges.length > 0 && ranges.map(parseCidr).every((inner) => outer.some((each) => isWithin(inner, each)));
}

export function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return new Set(one).symmetricDifference(new Set(other)).size === 0;
}

function rangeOf(text: string): Cidr | undefined {
  const bytes = addressBytes(text);
  if (bytes) return plainRange({ bytes, bits: bytes.length * 8 });
  try {
    return plainRange(parseCidr(text));
  } catch {
    return undefined;
  }
}
