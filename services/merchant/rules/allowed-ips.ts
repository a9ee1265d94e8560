// Where a live key may be used from (docs/contract.md §7): ranges of addresses in one form; none means everywhere.
// Pure.
import {
  addressBytes,
  type Cidr,
  cidrText,
  isNetwork,
  isWithin,
  parseCidr,
  plainRange,
} from "#platform/values/address-range.ts";

/** Ranges of one key: more is a network plan, and each is looked at with every request. */
export const allowedIpsMax = 20;
// A wider range keeps nobody out. The largest blocks that one company was ever given are an IPv4 /8 and an IPv6 /19.
const widest4 = 8;
const widest6 = 16;

/** What the caller wrote for one of its ranges, or why it is none, in words for the caller. */
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

/**
 * True when every address of the ranges is also one of the limit's, each range within one of them. No ranges are every
 * address.
 */
export function isLimitedBy(ranges: readonly string[], limit: readonly string[]): boolean {
  if (limit.length === 0) return true;
  const outer = limit.map(parseCidr);
  return ranges.length > 0 && ranges.map(parseCidr).every((inner) => outer.some((each) => isWithin(inner, each)));
}

/** True when they are the same, in whatever order. */
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
