// Loads a processor's script, which draws its fields into our element. A driver per connector translates between the
// script and the port.
import { onRefusal, type Refusal, waitForReport } from "../page-policy.ts";
import type { ElementRender } from "../render.ts";
import { loadScript } from "./load-script.ts";
import { stripeDriver } from "./stripe-driver.ts";
import type { ElementDriver, MountedSurface, MountSurface, SurfacePort } from "./surface.ts";

/** By the connector's name. */
const drivers: Readonly<Record<string, ElementDriver>> = { stripe: stripeDriver };

export const mountElement: MountSurface<ElementRender> = (container, render, port, settings) => {
  let mounted: MountedSurface | undefined;
  let isGone = false;
  let { appearance } = settings;
  const onReport = (refusal: Refusal) => port.failed("csp_blocked", refusal);
  const stopListening = onRefusal(/^(script|frame)/, render.scriptUrl, onReport);
  // After this, a refusal affects only parts that the fields can do without.
  const ready: SurfacePort["ready"] = (cards) => {
    stopListening();
    port.ready(cards);
  };
  const begin = async () => {
    const driver = drivers[render.connector];
    if (!driver) throw new Error(`no driver for ${render.connector}`);
    await loadScript(render.scriptUrl, settings.nonce);
    if (isGone) return;
    mounted = driver({ container, render, port: { ...port, ready }, settings: { ...settings, appearance } });
  };
  void begin().catch(async (cause) => {
    await waitForReport();
    if (!isGone) port.failed("load_failed", { cause });
  });
  return {
    submit: () => mounted?.submit(),
    setAppearance(next) {
      appearance = next;
      mounted?.setAppearance(next);
    },
    focus: () => mounted?.focus(),
    unmount() {
      isGone = true;
      stopListening();
      mounted?.unmount();
    },
  };
};
