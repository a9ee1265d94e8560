// Hosts of the processors' surfaces, for the hosted page's Content-Security-Policy. Every page lists all of them: a
// policy per session would reveal whether a session id exists.

export interface SurfaceHosts {
  readonly frame: readonly string[];
  readonly connect: readonly string[];
}

/**
 * Processors whose surface is a script (page-scripts.ts). Source: Stripe's security guide, "Content Security Policy".
 */
const scriptSurfaces: readonly SurfaceHosts[] = [
  {
    frame: ["https://js.stripe.com", "https://*.js.stripe.com", "https://hooks.stripe.com"],
    connect: ["https://api.stripe.com"],
  },
];

/** @param frameOrigins of processors whose surface is their own page */
export function surfaceHosts(frameOrigins: readonly string[]): SurfaceHosts {
  return {
    frame: [...scriptSurfaces.flatMap(({ frame }) => frame), ...frameOrigins],
    connect: scriptSurfaces.flatMap(({ connect }) => connect),
  };
}
