// Talks to the merchant's page that frames the card form, over one MessagePort. The protocol is in the README of the
// simulator.

/**
 * @param {{submit: () => void, fill: (number: string) => void, focus: () => void, speak: (locale: unknown) => Promise<void>}} actions
 *   of the parent's messages
 * @returns {{post: (message: object) => void, hasPayButton: () => boolean}} messages wait until the parent has sent its port
 */
export function openFramePort(actions) {
  if (window.parent === window) return { post() {}, hasPayButton: () => true };
  document.body.classList.add("is-framed");
  /** @type {MessagePort | undefined} */
  let port;
  let isConnected = false;
  let waiting = [];
  const post = (message) => port.postMessage("height" in message ? { ...message, height: pageHeight() } : message);

  window.addEventListener("message", async (event) => {
    const [offered] = event.ports;
    if (port || event.source !== window.parent || event.data?.type !== "tollbooth:init" || !offered) return;
    port = offered; // only the first message counts, so that no other page can take over the form
    document.body.classList.toggle("is-fields-only", event.data.pay_button === false);
    port.onmessage = ({ data }) => {
      if (data?.type === "submit") actions.submit();
      if (data?.type === "focus") actions.focus();
      if (data?.type === "fill" && typeof data.number === "string") actions.fill(data.number);
      if (data?.type === "style") applyStyle(data);
    };
    // Messages wait for the buyer's language, which can change the height.
    await actions.speak(event.data.locale);
    isConnected = true;
    for (const message of waiting) post(message);
    waiting = [];
  });

  let lastHeight = 0;
  new ResizeObserver(() => {
    const height = pageHeight();
    if (height === lastHeight || !isConnected) return;
    lastHeight = height;
    port?.postMessage({ type: "resize", height });
  }).observe(document.body);

  return {
    hasPayButton: () => !document.body.classList.contains("is-fields-only"),
    post(message) {
      if (isConnected) post(message);
      else waiting = [...waiting.slice(-9), message]; // ten: one of each kind and some
    },
  };
}

export function pageHeight() {
  return Math.ceil(document.body.getBoundingClientRect().height);
}

/** Accepts known values and plain colours only, so that the parent cannot script. */
function applyStyle({ theme, accent, button_style }) {
  const root = document.documentElement;
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  if (theme === "auto") delete root.dataset.theme;
  if (typeof accent === "string" && /^#[0-9a-f]{6}$/i.test(accent)) {
    root.style.setProperty("--accent", accent);
    root.style.setProperty("--on-accent", luminance(accent) > 0.179 ? "#000" : "#fff");
  }
  const radius = { rounded: "10px", pill: "999px", rectangular: "0" }[button_style];
  if (radius !== undefined) root.style.setProperty("--button-radius", radius);
}

/** Relative luminance (WCAG); above 0.179 black has more contrast than white. */
function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map((start) => {
    const part = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
