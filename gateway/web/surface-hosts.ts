// Which hosts a session's surface needs, for the hosted page's Content-Security-Policy: exactly its own and no others. A processor
// whose script loads more than its own origin has a row here.

export interface SurfaceHosts {
  readonly script: readonly string[];
  readonly frame: readonly string[];
  readonly connect: readonly string[];
}

/** What is known of a session's surface; origins, empty where there is none. */
export interface PageSurface {
  readonly connector: string;
  readonly scriptOrigin: string;
  readonly frameOrigin: string;
}

/** By connector, when the surface is its script. Source: Stripe's security guide, "Content Security Policy". */
const scriptHosts: Readonly<Record<string, SurfaceHosts>> = {
  stripe: {
    script: ["https://*.js.stripe.com"],
    frame: ["https://*.js.stripe.com", "https://hooks.stripe.com"],
    connect: ["https://api.stripe.com"],
  },
};

export function surfaceHosts({ connector, scriptOrigin, frameOrigin }: PageSurface): SurfaceHosts {
  const own = scriptOrigin === "" ? [] : [scriptOrigin];
  const more = own.length === 0 ? undefined : scriptHosts[connector];
  return {
    script: [...own, ...(more?.script ?? [])],
    frame: [...own, ...(more?.frame ?? []), ...(frameOrigin === "" ? [] : [frameOrigin])],
    connect: more?.connect ?? own,
  };
}
