// Networks that a live key was used from: which are remembered, and which are news. Pure.
import { cidrText, isNetwork, parseCidr } from "#platform/values/address-range.ts";

/**
 * Remembered networks of one key. A key that is used from more has no usual place: what comes then is neither kept nor
 * told.
 */
export const networksMax = 64;

/** True for what gateways report: a /24 of IPv4 or a /48 of IPv6, in its one form. */
export function isKeyNetwork(text: string): boolean {
  try {
    const range = parseCidr(text);
    return range.bits === (range.bytes.length === 4 ? 24 : 48) && isNetwork(range) && cidrText(range) === text;
  } catch {
    return false;
  }
}

/**
 * What to remember of further networks, and what of that is news. The first network of a key is none: it has to begin
 * somewhere.
 * @param known how many of the key are remembered
 * @param further networks that are not, in the order of their use
 */
export function furtherNetworks(known: number, further: readonly string[]): { kept: string[]; reported: string[] } {
  const kept = further.slice(0, Math.max(0, networksMax - known));
  return { kept, reported: known === 0 ? kept.slice(1) : kept };
}
