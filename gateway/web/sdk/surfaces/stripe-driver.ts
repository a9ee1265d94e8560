// Driver of Stripe's Payment Element. Types cover only the used part of Stripe.js. Source: Stripe.js reference,
// elements.create("payment") and stripe.confirmPayment.
import type { Appearance } from "../contract.ts";
import type { ElementDriver, ElementsOptions, SurfaceResult } from "./surface.ts";

interface StripeElement {
  mount(container: HTMLElement): void;
  destroy(): void;
  focus(): void;
  on(event: "ready" | "change" | "loaderror", listener: (data: { complete?: boolean }) => void): void;
}

interface StripeElements {
  create(type: "payment"): StripeElement;
  update(options: { appearance: unknown }): void;
}

interface StripeAnswer {
  readonly paymentIntent?: { readonly status: string };
  readonly error?: {
    readonly type: string;
    readonly code?: string;
    readonly decline_code?: string;
    readonly payment_intent?: { readonly status: string };
  };
}

interface StripeJs {
  elements(options: ElementsOptions): StripeElements;
  confirmPayment(options: {
    elements: unknown;
    confirmParams: { return_url: string };
    redirect: "if_required";
  }): Promise<StripeAnswer>;
}

export const stripeDriver: ElementDriver = ({ container, render, port, settings }) => {
  const make: unknown = Reflect.get(globalThis, "Stripe");
  if (typeof make !== "function") throw new Error("the script did not define Stripe");
  const stripe: StripeJs = make(render.publishableKey);
  const options = {
    clientSecret: render.clientSecret,
    locale: settings.locale,
    appearance: stripeAppearance(settings.appearance),
  };
  const pressed = settings.wallets?.(stripe, options, container, port);
  const elements = stripe.elements(options);
  const element = elements.create("payment");
  element.on("ready", () => port.ready([]));
  element.on("change", ({ complete }) => port.change({ complete: complete === true }));
  element.on("loaderror", () => port.failed("load_failed"));
  element.mount(container);
  return {
    submit() {
      const confirmParams = { return_url: settings.returnUrl };
      stripe.confirmPayment({ elements: pressed?.() ?? elements, confirmParams, redirect: "if_required" }).then(
        (answer) => port.result(resultOf(answer)),
        () => port.result({ status: "unknown" }),
      );
    },
    setAppearance: (appearance) => elements.update({ appearance: stripeAppearance(appearance) }),
    focus: () => element.focus(),
    unmount: () => element.destroy(),
  };
};

/**
 * A card error is a result. Any other error without an intent leaves the result unknown.
 */
function resultOf({ error, paymentIntent }: StripeAnswer): SurfaceResult {
  const status = paymentIntent?.status ?? error?.payment_intent?.status;
  if (status === "succeeded" || status === "requires_capture") return { status: "succeeded" };
  if (status === "processing" || status === "canceled") return { status };
  if (status === "requires_action") return { status: "requires_action" };
  if (error?.type === "validation_error") return { status: "incomplete" };
  if (error?.type === "card_error" || status === "requires_payment_method") {
    return { status: "failed", code: error?.decline_code ?? error?.code ?? "declined" };
  }
  return { status: "unknown" };
}

function stripeAppearance({ theme, accentColor, buttonStyle }: Appearance): unknown {
  const isDark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  const radius = buttonStyle === "rectangular" ? "0px" : "10px";
  const colour = accentColor && { colorPrimary: accentColor };
  return { theme: isDark ? "night" : "stripe", variables: { borderRadius: radius, ...colour } };
}
