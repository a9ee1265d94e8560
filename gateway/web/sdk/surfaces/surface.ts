// What a surface is: the processor's own fields, mounted into an element of ours and driven by these few calls. A new
// way to take card details is a new file beside this one; nothing else of the SDK knows how it works.
import type { Appearance, TestCard } from "../contract.ts";
import type { ErrorDetails } from "../failure.ts";
import type { ElementRender, Render } from "../render.ts";

/** What the surface says about the attempt. It is news, never proof: the service asks the processor. */
export type SurfaceResult =
  | { readonly status: "succeeded" | "processing" | "requires_action" | "canceled" }
  /** This attempt was refused; another one may be made. `code` is the processor's, for choosing a text. */
  | { readonly status: "failed"; readonly code: string }
  /** The fields are not complete; the surface says what is wrong itself. Nothing was sent. */
  | { readonly status: "incomplete" }
  /** The buyer leaves for the processor's page. */
  | { readonly status: "redirecting"; readonly url: string }
  /** Nobody knows how the attempt ended. `canRetry`: the fields still have what was typed, and can send it again. */
  | { readonly status: "unknown"; readonly canRetry?: boolean };

/** What a surface tells its handle. After `unmount` it says nothing more. */
export interface SurfacePort {
  /** The fields are there. */
  ready(testCards: readonly TestCard[]): void;
  /** At every edit. */
  change(change: { readonly complete: boolean }): void;
  /** The buyer pressed Enter in a field: pay. */
  submitRequested(): void;
  /** How an attempt stands: after `submit`, or on its own, when the surface finds one under way. */
  result(result: SurfaceResult): void;
  /** It cannot be used: the script or the frame did not load, or may not. */
  failed(code: "load_failed" | "timeout" | "csp_blocked", details?: ErrorDetails): void;
  /** CSS pixels that it needs. */
  resize(height: number): void;
}

/** What a surface may know of the page. */
export interface SurfaceSettings {
  readonly appearance: Appearance;
  /** BCP 47. */
  readonly locale: string;
  /** Accessible name of the fields. */
  readonly title: string;
  /** Where a redirect comes back to; never with the session secret. */
  readonly returnUrl: string;
  /** For script elements under a nonce policy. */
  readonly nonce: string | undefined;
  /** Buttons of wallets beside the card fields; undefined: none. */
  readonly wallets?: Wallets | undefined;
}

/** A mounted surface. */
export interface MountedSurface {
  /** Pays with what was typed; the answer comes as `port.result`. */
  submit(): void;
  setAppearance(appearance: Appearance): void;
  focus(): void;
  /** Types a test card, where the processor offers them. */
  fill?(number: string): void;
  /** Ends it; its container is taken out of the page then. */
  unmount(): void;
}

/**
 * A way to take card details: puts them into the container, which is ours, empty, and thrown away after `unmount`.
 * Never throws: what goes wrong is `port.failed`.
 */
export type MountSurface<R extends Render = Render> = (
  container: HTMLElement,
  render: R,
  port: SurfacePort,
  settings: SurfaceSettings,
) => MountedSurface;

/** Translates between one processor's script and a port. It may throw: that is `load_failed`. */
export type ElementDriver = (context: {
  /** Ours and empty. */
  readonly container: HTMLElement;
  readonly render: ElementRender;
  readonly port: SurfacePort;
  readonly settings: SurfaceSettings;
}) => MountedSurface;

export interface ElementsOptions {
  readonly clientSecret: string;
  readonly locale: string;
  readonly appearance: unknown;
}

/**
 * Puts wallet buttons before the card fields, which ask to be paid as Enter in a field does.
 * @returns says which elements were pressed and are to be paid now; undefined: the card's
 */
export type Wallets = (
  stripe: { elements(options: ElementsOptions): unknown },
  options: ElementsOptions,
  fields: HTMLElement,
  port: { submitRequested(): void },
) => () => unknown;
