// The surface of a render, by its kind.
import { mountElement } from "./element.ts";
import { mountFrame } from "./frame.ts";
import { mountRedirect } from "./redirect.ts";
import type { MountSurface } from "./surface.ts";

export const mountSurface: MountSurface = (container, render, port, settings) => {
  switch (render.kind) {
    case "frame":
      return mountFrame(container, render, port, settings);
    case "element":
      return mountElement(container, render, port, settings);
    case "redirect":
      return mountRedirect(container, render, port, settings);
  }
};
