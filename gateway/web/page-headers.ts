// Headers of the hosted page, equal for every id: no inline code, no eval, only our own and the processors' hosts and
// the merchant's logo. The page cannot be framed; shops embed the SDK instead. Browsers report violations (PCI DSS
// 4.0.1, 11.6.1).
import { scriptSources } from "./page-scripts.ts";
import type { SurfaceHosts } from "./surface-hosts.ts";

/** Browsers send policy reports here. */
export const reportPath = "/c/reports";
// `report-uri` is for browsers without the Reporting API.
const reporting = ["report-to page", `report-uri ${reportPath}`];
// Report only: a processor's script may write markup, which must not break a payment.
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
