// What tells a browser how to mount the processor's surface: the session's `render`, as a typed union. `kind` alone
// selects the surface; a `render` that lacks what its kind needs is unsupported, never guessed.
import { membersOf } from "./members.ts";

/** The processor's page in an iframe of its own origin. */
export interface FrameRender {
  readonly kind: "frame";
  readonly connector: string;
  /** https page of the processor; its fragment holds the intent's secret. */
  readonly frameUrl: string;
}

/** The processor's script, which draws fields of its own into an element of ours. */
export interface ElementRender {
  readonly kind: "element";
  /** Chooses the driver that knows the script: see surfaces/element.ts. */
  readonly connector: string;
  /** https script of the processor. It is loaded from there and never bundled. */
  readonly scriptUrl: string;
  /** The processor's public key. */
  readonly publishableKey: string;
  /** The processor's secret of this one intent, made for browsers. */
  readonly clientSecret: string;
}

/** The processor's page as a page of its own; the buyer comes back by the intent's return URL. */
export interface RedirectRender {
  readonly kind: "redirect";
  readonly connector: string;
  readonly redirectUrl: string;
}

export type Render = FrameRender | ElementRender | RedirectRender;

/** The public JSON as the union; undefined when no surface can be mounted from it. */
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
      return { kind: "element", connector, scriptUrl, publishableKey, clientSecret };
    }
    case "redirect": {
      const redirectUrl = address(text("redirect_url"));
      return redirectUrl === undefined ? undefined : { kind: "redirect", connector, redirectUrl };
    }
    default:
      return undefined;
  }
}

/** https, or http on this machine; anything else, `javascript:` above all, is nothing. */
function address(text: string): string | undefined {
  try {
    const { protocol, hostname } = new URL(text);
    const isLocal = protocol === "http:" && (hostname === "localhost" || hostname === "127.0.0.1");
    return protocol === "https:" || isLocal ? text : undefined;
  } catch {
    return undefined;
  }
}
