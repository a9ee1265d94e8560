// Headers of the hosted page, equal for every id: no inline code, no eval, only our own and the processors' hosts and
// the merchant's logo. The page cannot be framed; shops embed the SDK instead. Browsers report violations (PCI DSS
// 4.0.1, 11.6.1).

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
    ["style-src 'self'", ...hosts.style].join(" "),
    "img-src 'self' https: data:", // a merchant's logo, without a referrer
    ["connect-src 'self'", ...hosts.connect].join(" "),
    ["frame-src", ...hosts.frame].join(" "),
    "form-action 'self'", // the receipt by e-mail; the amount of a payment link
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

interface PageScript {
  /** Value in `script-src`. */
  readonly source: string;
  readonly owner: string;
  readonly reason: string;
  readonly integrity: string;
}

export const pageScripts: readonly PageScript[] = [
  {
    source: "'self'",
    owner: "Tollbooth",
    reason: "Shows the order and the state of the payment, and puts the processor's fields into the page.",
    integrity:
      "One file, and a second for the QR code on demand; both are named and pinned (`integrity`) by their hash, and a test compares them with their sources.",
  },
  {
    source: "https://js.stripe.com",
    owner: "Stripe",
    reason: "Draws the card fields of connector stripe, so that card details never reach the page or its server.",
    integrity:
      "Changes without notice and cannot be pinned; loaded by TLS from the processor, which is subject to PCI DSS.",
  },
  {
    source: "https://*.js.stripe.com",
    owner: "Stripe",
    reason: "Parts that Stripe's script loads from its own hosts.",
    integrity: "Same as https://js.stripe.com.",
  },
  ...["test", "live"].map((mode) => ({
    source: `https://checkoutshopper-${mode}.cdn.adyen.com`,
    owner: "Adyen",
    reason: "Draws the card fields of connector adyen, so that card details never reach the page or its server.",
    integrity: "Pinned: one release of Adyen Web, by its hash (`integrity`).",
  })),
];

const scriptSources: readonly string[] = pageScripts.map(({ source }) => source);

interface SurfaceHosts {
  readonly frame: readonly string[];
  readonly connect: readonly string[];
  readonly style: readonly string[];
}

/**
 * Processors whose surface is a script (page-scripts.ts). Sources: Stripe's security guide, "Content Security Policy";
 * Adyen Web's environments, whose texts and style come from the host of the script.
 */
const scriptSurfaces: readonly SurfaceHosts[] = [
  {
    frame: ["https://js.stripe.com", "https://*.js.stripe.com", "https://hooks.stripe.com"],
    connect: ["https://api.stripe.com"],
    style: [],
  },
  ...["test", "live"].map((mode) => {
    const [api, files] = [`https://checkoutshopper-${mode}.adyen.com`, `https://checkoutshopper-${mode}.cdn.adyen.com`];
    return { frame: [api], connect: [api, files, `https://checkoutanalytics-${mode}.adyen.com`], style: [files] };
  }),
];

/** @param frameOrigins of processors whose surface is their own page */
export function surfaceHosts(frameOrigins: readonly string[]): SurfaceHosts {
  return {
    frame: [...scriptSurfaces.flatMap(({ frame }) => frame), ...frameOrigins],
    connect: scriptSurfaces.flatMap(({ connect }) => connect),
    style: scriptSurfaces.flatMap(({ style }) => style),
  };
}
