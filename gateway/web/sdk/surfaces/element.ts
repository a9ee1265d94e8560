// A processor's own script, loaded from the processor and drawing its fields into our element. Each script has its own
// ways, so a driver for each connector translates between it and the port.
import type { ElementRender } from "../render.ts";
import type { ElementDriver } from "./element-driver.ts";
import { loadScript } from "./load-script.ts";
import { stripeDriver } from "./stripe-driver.ts";
import type { MountedSurface, Surface } from "./surface.ts";

/** By the connector's name. */
const drivers: Readonly<Record<string, ElementDriver>> = { stripe: stripeDriver };

export const elementSurface: Surface<ElementRender> = {
  kind: "element",
  mount(container, render, port, settings) {
    let mounted: MountedSurface | undefined;
    let isGone = false;
    let { appearance } = settings;
    const begin = async () => {
      const driver = drivers[render.connector];
      if (!driver) return port.failed("load_failed");
      await loadScript(render.scriptUrl, settings.nonce);
      if (isGone) return;
      mounted = driver({ container, render, port, settings: { ...settings, appearance } });
    };
    void begin().catch(() => isGone || port.failed("load_failed"));
    return {
      submit: () => mounted?.submit(),
      setAppearance(next) {
        appearance = next;
        mounted?.setAppearance(next);
      },
      focus: () => mounted?.focus(),
      unmount() {
        isGone = true;
        mounted?.unmount();
        container.replaceChildren();
      },
    };
  },
};
