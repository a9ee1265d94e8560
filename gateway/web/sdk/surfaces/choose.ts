// Mounts the surface of a render by its kind. For a processor's script, which draws its fields into our element, a
// driver per connector translates between the script and the port.

import { onRefusal, type Refusal, trustedUrl, waitForReport } from "../page-policy.ts";
import type { ElementRender, RedirectRender } from "../render.ts";
import { adyenDriver } from "./adyen-driver.ts";
import { mountFrame } from "./frame.ts";
import { stripeDriver } from "./stripe-driver.ts";
import type { ElementDriver, MountedSurface, MountSurface, SurfacePort } from "./surface.ts";

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
const mountRedirect: MountSurface<RedirectRender> = (_container, render, port) => {
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

const drivers: Readonly<Record<string, ElementDriver>> = { adyen: adyenDriver, stripe: stripeDriver };

const mountElement: MountSurface<ElementRender> = (container, render, port, settings) => {
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
    addStyle(render);
    await loadScript(render, settings.nonce);
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

const scriptMs = 15_000; // enough for 200 kB on a slow phone network
const loading = new Map<string, Promise<void>>();
const styled = new Set<string>();

/** Rejects if the script does not load in time. */
function loadScript(render: ElementRender, nonce: string | undefined): Promise<void> {
  const { scriptUrl } = render;
  const pending = loading.get(scriptUrl);
  if (pending !== undefined) return pending;
  const loaded = inject(render, nonce);
  loading.set(scriptUrl, loaded);
  loaded.catch(() => loading.delete(scriptUrl));
  return loaded;
}

function inject({ scriptUrl, scriptIntegrity }: ElementRender, nonce: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const fail = () => {
      clearTimeout(timer);
      script.remove();
      reject();
    };
    const timer = setTimeout(fail, scriptMs);
    script.src = trustedUrl(scriptUrl, "tollbooth");
    script.referrerPolicy = "strict-origin-when-cross-origin";
    if (scriptIntegrity) pin(script, scriptIntegrity);
    if (nonce) script.nonce = nonce;
    script.onload = () => resolve(clearTimeout(timer));
    script.onerror = fail;
    document.head.append(script);
  });
}

/** Adds the style sheet of the script, once. The fields work without it. */
function addStyle({ styleUrl, styleIntegrity }: ElementRender): void {
  if (!styleUrl || styled.has(styleUrl)) return;
  styled.add(styleUrl);
  const link = document.createElement("link");
  link.rel = "stylesheet";
  pin(link, styleIntegrity);
  link.href = styleUrl;
  document.head.append(link);
}

function pin(element: HTMLScriptElement | HTMLLinkElement, integrity: string): void {
  element.integrity = integrity;
  element.crossOrigin = "anonymous";
}
