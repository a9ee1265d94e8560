// The surface of a render, by its kind.
import type { Render } from "../render.ts";
import { elementSurface } from "./element.ts";
import { frameSurface } from "./frame.ts";
import { redirectSurface } from "./redirect.ts";
import type { MountedSurface, SurfacePort, SurfaceSettings } from "./surface.ts";

type Mount = (container: HTMLElement, port: SurfacePort, settings: SurfaceSettings) => MountedSurface;

/** Ready to be mounted. */
export function surfaceFor(render: Render): Mount {
  switch (render.kind) {
    case "frame":
      return (container, port, settings) => frameSurface.mount(container, render, port, settings);
    case "element":
      return (container, port, settings) => elementSurface.mount(container, render, port, settings);
    case "redirect":
      return (container, port, settings) => redirectSurface.mount(container, render, port, settings);
  }
}
