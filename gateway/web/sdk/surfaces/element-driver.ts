// What a driver is: it translates between one processor's script and the port of a surface.
import type { ElementRender } from "../render.ts";
import type { MountedSurface, SurfacePort, SurfaceSettings } from "./surface.ts";

/** Knows one processor's script. It may throw: that is told as `load_failed`. */
export type ElementDriver = (place: {
  /** Ours and empty. */
  readonly container: HTMLElement;
  readonly render: ElementRender;
  readonly port: SurfacePort;
  readonly settings: SurfaceSettings;
}) => MountedSurface;
