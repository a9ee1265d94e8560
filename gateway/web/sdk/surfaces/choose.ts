// Mounts the surface of a render by its kind.

import type { RedirectRender } from "../render.ts";
import { mountElement } from "./element.ts";
import { mountFrame } from "./frame.ts";
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

/** Mounts nothing: Pay sends the buyer to the processor's page. */
export const mountRedirect: MountSurface<RedirectRender> = (_container, render, port) => {
  let isGone = false;
  // Ready after mount has returned, like the other surfaces.
  queueMicrotask(() => isGone || port.ready([]));
  return {
    submit: () => isGone || port.result({ status: "redirecting", url: render.redirectUrl }),
    setAppearance() {},
    focus() {},
    unmount() {
      isGone = true;
    },
  };
};
