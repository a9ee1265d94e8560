// Headers of every page of a console: nothing inline, no eval, no host but our own and merchants' logos; nobody frames
// it, and nothing of it is stored. The preview of the payment page alone may be framed, by the console itself.

const policy = (frameAncestors: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' https: data:", // a merchant's logo, without a referrer
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    `frame-ancestors ${frameAncestors}`,
    "require-trusted-types-for 'script'",
    "trusted-types console",
  ].join("; ");

const common = {
  "cache-control": "no-store",
  "referrer-policy": "same-origin",
  "permissions-policy":
    "camera=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(self), publickey-credentials-create=(self)",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "x-robots-tag": "noindex, nofollow",
};

/** Of a page. */
export const pageHeaders: Readonly<Record<string, string>> = {
  ...common,
  "content-security-policy": policy("'none'"),
  "x-frame-options": "DENY",
};

/** Of a page that the console shows in a frame of its own. */
export const framedHeaders: Readonly<Record<string, string>> = {
  ...common,
  "content-security-policy": policy("'self'"),
  "x-frame-options": "SAMEORIGIN",
};
