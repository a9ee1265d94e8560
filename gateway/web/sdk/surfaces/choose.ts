// The surface of a render, by its kind.

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

/** The processor's page as a page of its own: nothing is mounted, and paying means leaving. */
export const mountRedirect: MountSurface<RedirectRender> = (_container, render, port) => {
  let isGone = false;
  // As the other surfaces do, it is ready after mount has returned.
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
