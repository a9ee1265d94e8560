// Which hosts the surfaces of sessions need, for the hosted page's Content-Security-Policy. All of them for every page:
// a policy that named the session's own alone would tell a session's id from one that nobody has.

export interface SurfaceHosts {
  readonly frame: readonly string[];
  readonly connect: readonly string[];
}

/**
 * Of processors whose surface is a script (page-scripts.ts). Source: Stripe's security guide, "Content Security
 * Policy".
 */
const scriptSurfaces: readonly SurfaceHosts[] = [
  {
    frame: ["https://js.stripe.com", "https://*.js.stripe.com", "https://hooks.stripe.com"],
    connect: ["https://api.stripe.com"],
  },
];

/** @param frameOrigins of processors whose surface is a page of their own */
export function surfaceHosts(frameOrigins: readonly string[]): SurfaceHosts {
  return {
    frame: [...scriptSurfaces.flatMap(({ frame }) => frame), ...frameOrigins],
    connect: scriptSurfaces.flatMap(({ connect }) => connect),
  };
}
