// The interface of a surface: the processor's fields, mounted into our element. A new kind of surface is a new file in
// this folder.
import type { Appearance, TestCard } from "../contract.ts";
import type { ErrorDetails } from "../failure.ts";
import type { ElementRender, Render } from "../render.ts";

/** A surface's report of an attempt. It is no proof: the service asks the processor. */
export type SurfaceResult =
  | { readonly status: "succeeded" | "processing" | "requires_action" | "canceled" }
  /** The processor took the attempt and reports it to the service alone, later. */
  | { readonly status: "accepted" }
  /** The attempt was declined; another may follow. `code` is the processor's, to choose a text. */
  | { readonly status: "failed"; readonly code: string }
  /** The fields are incomplete and show the problem. Nothing was sent. */
  | { readonly status: "incomplete" }
  /** The buyer leaves for the processor's page. */
  | { readonly status: "redirecting"; readonly url: string }
  /** Unknown result. `canRetry`: the fields kept their input and can send it again. */
  | { readonly status: "unknown"; readonly canRetry?: boolean };

/** Callbacks of a surface to its handle; not called after `unmount`. */
export interface SurfacePort {
  /** The fields are usable. */
  ready(testCards: readonly TestCard[]): void;
  /** At every edit. */
  change(change: { readonly complete: boolean }): void;
  /** The buyer pressed Enter in a field: pay. */
  submitRequested(): void;
  /** Result of an attempt: after `submit`, or of one that the surface finds in progress. */
  result(result: SurfaceResult): void;
  /** The script or the frame did not load or was blocked. */
  failed(code: "load_failed" | "timeout" | "csp_blocked", details?: ErrorDetails): void;
  resize(height: number): void;
}

export interface SurfaceSettings {
  readonly appearance: Appearance;
  /** BCP 47. */
  readonly locale: string;
  readonly title: string;
  /** Where a redirect comes back to; never with the session secret. */
  readonly returnUrl: string;
  /** For script elements under a nonce policy. */
  readonly nonce: string | undefined;
  /** Adds wallet buttons to the card fields. */
  readonly wallets?: Wallets | undefined;
}

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
 * Mounts the fields into our empty container, which is removed after `unmount`. Never throws: it calls `port.failed`.
 */
export type MountSurface<R extends Render = Render> = (
  container: HTMLElement,
  render: R,
  port: SurfacePort,
  settings: SurfaceSettings,
) => MountedSurface;

/** Translates between a processor's script and a port. An exception becomes `load_failed`. */
export type ElementDriver = (context: {
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
 * Mounts wallet buttons above the card fields. A press requests a submit, like Enter in a field.
 * @returns a function that returns the pressed wallet's elements; undefined for the card
 */
export type Wallets = (
  stripe: { elements(options: ElementsOptions): unknown },
  options: ElementsOptions,
  fields: HTMLElement,
  port: { submitRequested(): void },
) => () => unknown;
