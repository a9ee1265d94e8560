// The processor's page as a page of its own: nothing is mounted, and paying means leaving.
import type { RedirectRender } from "../render.ts";
import type { MountSurface } from "./surface.ts";

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
