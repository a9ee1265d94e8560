// Driver of Adyen Web's card fields in a session. A bank's page takes the whole window; its result comes back in the
// address and is finished here. Types cover only the used part of Adyen Web 6; source: its code and its guide.
import { takeRedirect } from "../consume-return.ts";
import { membersOf } from "../members.ts";
import type { ElementDriver, SurfaceResult } from "./surface.ts";

interface AdyenCard {
  readonly isValid: boolean;
  mount(container: HTMLElement): void;
  unmount(): void;
  submit(): void;
  setStatus(status: "ready" | "loading"): void;
}

interface AdyenCheckout {
  submitDetails(details: { details: { redirectResult: string } }): void;
}

interface AdyenWeb {
  AdyenCheckout(options: object): Promise<AdyenCheckout>;
  Card: new (checkout: AdyenCheckout, options: object) => AdyenCard;
}

export const adyenDriver: ElementDriver = ({ container, render, port, settings }) => {
  const { AdyenWeb: library }: { AdyenWeb?: AdyenWeb } = membersOf(globalThis);
  if (!library) throw new Error("the script did not define AdyenWeb");
  const { session, environment, country } = membersOf(JSON.parse(render.options));
  const id = String(session);
  const redirectResult = takeRedirect(id);
  let card: AdyenCard | undefined;
  let isGone = false;
  let isPaying = redirectResult !== undefined;
  let failure: unknown;
  const report = (result: SurfaceResult) => {
    isPaying = false;
    if (result.status === "failed") card?.setStatus("ready");
    port.result(result);
  };
  const start = async () => {
    if (isAccepted(id)) {
      port.ready([]);
      return report({ status: "accepted" });
    }
    const checkout = await library.AdyenCheckout({
      ...{ environment, clientKey: render.publishableKey, countryCode: country, locale: regional(settings.locale) },
      // The first data would overwrite the newest of a session that was already used here.
      session: isStored(id) ? { id } : { id, sessionData: render.clientSecret },
      ...{ showPayButton: false, setStatusAutomatically: false, analytics: { enabled: false } },
      onPaymentCompleted(answer: unknown) {
        if (membersOf(answer).resultCode === "Authorised") keepAccepted(id);
        report({ status: "accepted" });
      },
      onPaymentFailed(answer: unknown) {
        const { resultCode } = membersOf(answer);
        // An error comes here, too.
        if (typeof resultCode === "string") report(failedResult(resultCode));
      },
      onError(error: unknown) {
        failure ??= error;
        if (isPaying) report(errorResult(error));
      },
    });
    if (isGone) return;
    if (failure) throw failure;
    card = new library.Card(checkout, {
      onChange: ({ isValid }: { isValid?: boolean }) => port.change({ complete: isValid === true }),
      onEnterKeyPressed: () => port.submitRequested(),
      // The handle leaves the page. Only the library can send a form, which the hosted page's policy refuses.
      beforeRedirect(resolve: () => void, _reject: () => void, { url, method }: { url: string; method?: string }) {
        if (method === "POST") resolve();
        else report({ status: "redirecting", url });
      },
    });
    card.mount(container);
    port.ready([]);
    if (redirectResult === undefined) return;
    card.setStatus("loading");
    checkout.submitDetails({ details: { redirectResult } });
  };
  start().catch((cause) => isGone || port.failed("load_failed", { cause }));
  return {
    submit() {
      isPaying = card?.isValid === true;
      card?.submit(); // shows what is missing
      if (!isPaying) port.result({ status: "incomplete" });
    },
    setAppearance() {},
    focus: () => container.querySelector("iframe")?.focus(),
    unmount() {
      isGone = true;
      card?.unmount();
    },
  };
};

function failedResult(resultCode: string): SurfaceResult {
  if (resultCode === "Cancelled") return { status: "failed", code: "canceled_by_buyer" };
  // `Error` is no answer of the bank.
  return resultCode === "Refused" ? { status: "failed", code: "card_declined" } : { status: "processing" };
}

/** A code is Adyen's own refusal, which did nothing; without one the attempt may have arrived. */
function errorResult(error: unknown): SurfaceResult {
  return { status: membersOf(membersOf(error).options).code ? "unknown" : "processing" };
}

/** Adyen's languages have a region: `de-DE`. */
function regional(locale: string): string {
  const { language, region } = new Intl.Locale(locale).maximize();
  return `${language}-${region}`;
}

/** True if Adyen Web keeps the session's newest data, under one name for all sessions. */
function isStored(id: string): boolean {
  try {
    return membersOf(JSON.parse(localStorage.getItem("adyen-checkout__session") ?? "{}")).id === id;
  } catch {
    return false;
  }
}

/** Keeps in this tab that Adyen authorized the payment: after a reload its session takes no more. */
function keepAccepted(id: string): void {
  try {
    sessionStorage.setItem(`tollbooth:${id}`, "accepted");
  } catch {}
}

function isAccepted(id: string): boolean {
  try {
    return sessionStorage.getItem(`tollbooth:${id}`) === "accepted";
  } catch {
    return false;
  }
}
