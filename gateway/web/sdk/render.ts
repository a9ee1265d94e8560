// Reads a session's `render` into a typed union. `kind` selects the surface; one with missing fields is unsupported.
import { membersOf } from "./members.ts";

/** The processor's page in an iframe of its own origin. */
export interface FrameRender {
  readonly kind: "frame";
  readonly connector: string;
  /** https page of the processor; its fragment contains the intent's secret. */
  readonly frameUrl: string;
}

/** The processor's script, which draws its fields into our element. */
export interface ElementRender {
  readonly kind: "element";
  /** Selects the script's driver: see surfaces/choose.ts. */
  readonly connector: string;
  /** https script, loaded from the processor and never bundled. */
  readonly scriptUrl: string;
  readonly publishableKey: string;
  /** The processor's secret of this intent, for browsers. */
  readonly clientSecret: string;
  /** Subresource Integrity; empty: the script changes without notice. */
  readonly scriptIntegrity: string;
  readonly styleUrl: string | undefined;
  readonly styleIntegrity: string;
  /** JSON, for the driver. */
  readonly options: string;
}

/** The processor's page at top level; the buyer returns by the intent's return URL. */
export interface RedirectRender {
  readonly kind: "redirect";
  readonly connector: string;
  readonly redirectUrl: string;
}

export type Render = FrameRender | ElementRender | RedirectRender;

/** Undefined if no surface can be mounted. */
export function readRender(json: unknown): Render | undefined {
  const members = membersOf(json);
  const text = (name: string) => {
    const value = members[name];
    return typeof value === "string" ? value : "";
  };
  const connector = text("connector");
  switch (text("kind")) {
    case "frame": {
      const frameUrl = address(text("frame_url"));
      return frameUrl === undefined ? undefined : { kind: "frame", connector, frameUrl };
    }
    case "element": {
      const scriptUrl = address(text("script_url"));
      const [publishableKey, clientSecret] = [text("publishable_key"), text("client_secret")];
      if (!scriptUrl || !publishableKey || !clientSecret) return undefined;
      const [scriptIntegrity, styleIntegrity] = [text("script_integrity"), text("style_integrity")];
      const style = { styleUrl: address(text("style_url")), styleIntegrity, options: text("options") };
      return { kind: "element", connector, scriptUrl, publishableKey, clientSecret, scriptIntegrity, ...style };
    }
    case "redirect": {
      const redirectUrl = address(text("redirect_url"));
      return redirectUrl === undefined ? undefined : { kind: "redirect", connector, redirectUrl };
    }
    default:
      return undefined;
  }
}

/** Accepts https, and http on localhost; rejects everything else, in particular `javascript:`. */
function address(text: string): string | undefined {
  try {
    const { protocol, hostname } = new URL(text);
    const isLocal = protocol === "http:" && (hostname === "localhost" || hostname === "127.0.0.1");
    return protocol === "https:" || isLocal ? text : undefined;
  } catch {
    return undefined;
  }
}
