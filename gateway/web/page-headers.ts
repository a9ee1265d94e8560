// Headers of the hosted page. Nothing inline, no eval, no host but our own, the session's surface and the merchant's logo; nobody may
// frame it: a shop that wants the fields in its own page embeds the SDK, whose frame is the processor's.
import type { SurfaceHosts } from "./surface-hosts.ts";

export function pageHeaders(hosts: SurfaceHosts): Record<string, string> {
  const policy = [
    "default-src 'none'",
    ["script-src 'self'", ...hosts.script].join(" "),
    "style-src 'self'",
    "img-src 'self' https: data:", // a merchant's logo, without a referrer
    ["connect-src 'self'", ...hosts.connect].join(" "),
    `frame-src ${hosts.frame.join(" ") || "'none'"}`,
    "form-action 'none'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
  ];
  const payers = ["self", ...hosts.frame.filter((host) => !host.includes("*")).map((host) => `"${host}"`)].join(" ");
  return {
    "content-security-policy": policy.join("; "),
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "permissions-policy": `camera=(), geolocation=(), microphone=(), payment=(${payers}), publickey-credentials-get=(${payers})`,
    "cross-origin-opener-policy": "same-origin-allow-popups", // a bank's check may open a window
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex, nofollow",
  };
}
