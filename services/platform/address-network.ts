// What counts as one caller among addresses: an IPv4 address, or the /64 of an IPv6 one, which is the least that one customer has. Who
// rents a server may have a /48, which is 65,536 of them.
import { isIPv4, isIPv6 } from "node:net";
import { callerBytes, cidrText, networkAround } from "./address-range.ts";

/** Where somebody is, roughly: the /24 of an IPv4 address, the /48 of an IPv6 one, written as a network; undefined: no address. */
export function neighbourhoodOf(address: string): string | undefined {
  const bytes = callerBytes(address);
  return bytes && cidrText(networkAround(bytes, bytes.length === 4 ? 24 : 48));
}

/** The address, or the first four groups of an IPv6 address; IPv4 written as IPv6 is IPv4. */
export function networkOf(address: string): string {
  return firstGroups(address, 4);
}

/** The address, or the first three groups of an IPv6 address: the most that one customer has. */
export function siteOf(address: string): string {
  return firstGroups(address, 3);
}

function firstGroups(address: string, count: number): string {
  if (!isIPv6(address)) return address;
  const [bare = ""] = address.toLowerCase().split("%");
  const mapped = /^::ffff:([\d.]+)$/.exec(bare)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  const [head = "", tail = ""] = bare.split("::");
  const left = groupsOf(head);
  const right = groupsOf(tail);
  const zeros = bare.includes("::") ? Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0") : [];
  return [...left, ...zeros, ...right].slice(0, count).join(":");
}

function groupsOf(text: string): string[] {
  return text
    .split(":")
    .filter((group) => group !== "")
    .map((group) => group.replace(/^0+(?=.)/, ""));
}
