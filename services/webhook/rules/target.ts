// Parses and normalizes a webhook URL (docs/contract.md §9): https, no userinfo, no fragment, a host that can be
// public. It does not resolve names.
import { isIP } from "node:net";
import type { Cidr } from "#platform/values/address-range.ts";
import { isAllowedAddress } from "./address.ts";

export interface Target {
  /** Normalized; stored and called in this form. */
  readonly href: string;
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** Host name or IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** Whether `host` is an IP address; it is an allowed one then. */
  readonly isAddress: boolean;
}

/** The problem of every host that is, or resolves to, an internal address. */
export const notPublic = "must lead to a public address";

const urlCharactersMax = 2_048;
const hostCharactersMax = 253;
const httpsPort = 443;

// Names that never resolve to a public host; allowed only if the operator allows private ranges.
const privateName = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|svc|corp|home|private|onion)$/;
const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
// Ports of internal services: the "bad ports" of the Fetch standard and common databases.
const refusedPorts = new Set([
  0, 1, 7, 9, 19, 22, 23, 25, 53, 110, 111, 119, 123, 135, 137, 139, 143, 161, 389, 445, 465, 514, 587, 636, 993, 995,
  2049, 2375, 3306, 3389, 5432, 6000, 6379, 9200, 10_080, 11_211, 27_017,
]);

/**
 * @param allow ranges that the operator allows in addition to public addresses
 * @returns the target, or the problem as a text for the merchant
 */
export function parseTarget(raw: string, allow: readonly Cidr[]): Target | { readonly problem: string } {
  if (!URL.canParse(raw)) return { problem: "must be a URL" };
  const url = new URL(raw);
  if (url.protocol !== "https:") return { problem: "must be https" };
  if (url.username !== "" || url.password !== "") return { problem: "must not hold a user name or password" };
  if (url.hash !== "" || raw.includes("#")) return { problem: "must not have a fragment" };
  if (raw.length > urlCharactersMax || url.href.length > urlCharactersMax) {
    return { problem: `must have at most ${urlCharactersMax} characters` };
  }
  const port = url.port === "" ? httpsPort : Number(url.port);
  if (refusedPorts.has(port)) return { problem: "must not use this port" };
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const isAddress = isIP(host) !== 0;
  const refused = isAddress ? !isAllowedAddress(host, allow) : !isPublicName(host, allow.length > 0);
  if (refused) return { problem: notPublic };
  return { href: url.href, origin: url.origin, path: `${url.pathname}${url.search}`, host, port, isAddress };
}

/** @param privateAllowed whether private names and single labels are allowed */
function isPublicName(host: string, privateAllowed: boolean): boolean {
  const labels = host.split(".");
  if (host.length > hostCharactersMax || !labels.every((l) => label.test(l))) return false;
  return privateAllowed || (labels.length > 1 && !privateName.test(host));
}
