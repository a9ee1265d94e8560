// The steps to go live, each with its state. Hidden once all are done.
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../../html.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { section } from "../../../view/section.ts";

type StepName =
  | "keyCreated"
  | "sessionCreated"
  | "paid"
  | "webhook"
  | "branding"
  | "profile"
  | "liveProcessor"
  | "liveKey";

interface Step {
  readonly name: StepName;
  readonly isDone: boolean;
  /** Relative to the merchant's address. */
  readonly path: string;
  /** The right that the page needs. */
  readonly action?: string;
}

export async function renderChecklist(context: ConsoleContext, visit: MerchantVisit): Promise<Html | string> {
  const { language } = visit;
  const texts = textsOf(language).home;
  return await section(
    language,
    texts.list,
    () => loadSteps(context, visit),
    (steps) => {
      const done = steps.filter(({ isDone }) => isDone).length;
      if (done === steps.length) return "";
      return html`<section class="panel"><h2>${texts.list}</h2><p class="muted">${fill(texts.listDone, { done: String(done), all: String(steps.length) })}</p>
<ol class="checklist">${steps.map((step) => item(visit, step))}</ol></section>`;
    },
  );
}

function item({ language, merchantId, may }: MerchantVisit, { name, isDone, path, action }: Step): Html {
  const texts = textsOf(language).home;
  const mayGo = !isDone && (action === undefined || may(action));
  const text = mayGo ? html`<a href="/${merchantId}/${path}">${texts[name]}</a>` : texts[name];
  return html`<li class="${isDone ? "is-done" : "is-open"}"><span class="visually-hidden">${isDone ? texts.done : texts.open}: </span>${text}</li>`;
}

async function loadSteps({ peers }: ConsoleContext, { merchantId }: MerchantVisit): Promise<readonly Step[]> {
  const sandbox = { merchantId, environment: Environment.SANDBOX };
  const live = { merchantId, environment: Environment.LIVE };
  const [keys, liveKeys, sessions, payments, endpoints, liveEndpoints, branding, profile, connectors] =
    await Promise.all([
      peers.apiKeys.listApiKeys({ ...sandbox, limit: 1 }),
      peers.apiKeys.listApiKeys({ ...live, limit: 1 }),
      peers.checkout.listSessions({ ...sandbox, limit: 1 }),
      peers.payments.listPayments({ ...sandbox, limit: 1, status: "succeeded" }),
      peers.webhooks.listEndpoints(sandbox),
      peers.webhooks.listEndpoints(live),
      peers.merchants.getBranding(live),
      peers.merchants.getMerchant(live),
      peers.connectors.listConnectors(live),
    ]);
  const hasActive = (found: typeof keys) => found.apiKeys.some(({ status }) => status === "active");
  const { displayName = "", logoUrl = "", accentColor = "" } = branding.branding ?? {};
  const { legalName = "", phone = "", website = "" } = profile.merchant ?? {};
  const isActive = ({ status }: { readonly status: string }) => status === "active";
  return [
    { name: "keyCreated", isDone: keys.total > 0n, path: "sandbox/keys", action: "keys.read" },
    { name: "sessionCreated", isDone: sessions.total > 0n, path: "sandbox/links", action: "links.write" },
    { name: "paid", isDone: payments.total > 0n, path: "sandbox/payments", action: "payments.read" },
    {
      ...{ name: "webhook", path: "sandbox/webhooks", action: "webhooks.write" },
      isDone: endpoints.endpoints.some(isActive) || liveEndpoints.endpoints.some(isActive),
    },
    { name: "branding", isDone: [displayName, logoUrl, accentColor].some((set) => set !== ""), path: "live/branding" },
    { name: "profile", isDone: [legalName, phone, website].every((set) => set !== ""), path: "live/profile" },
    {
      ...{ name: "liveProcessor", path: "live/processors", action: "connectors.read" },
      isDone: connectors.connectors.some(({ isActive: is, connector }) => is && connector !== "simulator"),
    },
    { name: "liveKey", isDone: hasActive(liveKeys), path: "live/keys", action: "keys.read" },
  ];
}
