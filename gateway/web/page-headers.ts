// Headers of the hosted page, the same for every id. Nothing inline, no eval, no host but our own, the processors' and
// the merchant's logo; nobody may frame it: a shop that wants the fields in its own page embeds the SDK, whose frame is
// the processor's. What breaks the policy is reported (PCI DSS 4.0.1, 11.6.1).
import { scriptSources } from "./page-scripts.ts";
import type { SurfaceHosts } from "./surface-hosts.ts";

/** Where browsers tell what broke the policy. */
export const reportPath = "/c/reports";
// `report-uri` is for browsers without the Reporting API.
const reporting = ["report-to page", `report-uri ${reportPath}`];
// Not enforced: a processor's script writes markup in ways that are its own, and a payment must not fail for that.
const trustedTypes = ["require-trusted-types-for 'script'", "trusted-types tollbooth", ...reporting];

export function pageHeaders(hosts: SurfaceHosts): Record<string, string> {
  const policy = [
    "default-src 'none'",
    ["script-src", ...scriptSources].join(" "),
    "style-src 'self'",
    "img-src 'self' https: data:", // a merchant's logo, without a referrer
    ["connect-src 'self'", ...hosts.connect].join(" "),
    ["frame-src", ...hosts.frame].join(" "),
    "form-action 'none'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
    ...reporting,
  ];
  const payers = ["self", ...hosts.frame.filter((host) => !host.includes("*")).map((host) => `"${host}"`)].join(" ");
  return {
    "content-security-policy": policy.join("; "),
    "content-security-policy-report-only": trustedTypes.join("; "),
    "reporting-endpoints": `page="${reportPath}"`,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "permissions-policy": `camera=(), geolocation=(), microphone=(), payment=(${payers}), publickey-credentials-get=(${payers})`,
    "cross-origin-opener-policy": "same-origin-allow-popups", // a bank's check may open a window
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex, nofollow",
  };
}
