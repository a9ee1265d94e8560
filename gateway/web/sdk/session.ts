// The session as the API answers it, read into the SDK's view and the render. Only known fields with the right types
// get through.
import type { BrandingView, LegalView, LineItem, RunningSession, SessionView } from "./contract.ts";
import { membersOf } from "./members.ts";
import { moneyOf } from "./money.ts";
import { type Render, readRender } from "./render.ts";

export interface ReadSession {
  readonly view: SessionView;
  /** undefined: nothing that can be mounted. */
  readonly render: Render | undefined;
}

const statuses = ["open", "processing", "completed", "expired", "canceled"] as const;

/** undefined: not a session. */
export function readSession(json: unknown, locale: string): ReadSession | undefined {
  const of = fieldsOf(json);
  const status = statuses.find((known) => known === of.text("status"));
  const id = of.text("id");
  const [currency, amount, environment] = [of.text("currency"), of.any("amount"), of.text("environment")];
  const money = currency && typeof amount === "number" ? moneyOf(amount, currency, locale) : undefined;
  // What has ended without a payment is told without an amount.
  const isOver = status === "expired" || status === "canceled";
  if (!status || !id || (!money && !isOver)) return undefined;
  const merchant = fieldsOf(of.any("merchant"));
  const render = readRender(of.any("render"));
  const view: SessionView = {
    id,
    status,
    ...given("livemode", environment === undefined ? undefined : environment === "live"),
    ...given("amount", money),
    ...given("expiresAt", of.text("expires_at")),
    merchant: {
      displayName: merchant.text("display_name") ?? "",
      ...given("supportEmail", merchant.text("support_email")),
    },
    branding: readBranding(of.any("branding")),
    surface: { kind: render?.kind ?? "none", connector: of.text("connector") ?? "" },
    ...given("description", of.text("description")),
    ...given("lineItems", readLines(of.any("line_items"), currency, locale)),
    ...given("legal", readLegal(of.any("legal"))),
    ...given("receiptUrl", webAddress(of.text("receipt_url"))),
    ...given("successUrl", webAddress(of.text("success_url"))),
    ...given("cancelUrl", webAddress(of.text("cancel_url"))),
    ...given("payment", readPayment(of.text("payment_id"), of.text("payment_status"))),
  };
  return { view, render };
}

/** undefined: it has ended without a payment, or is not known. */
export function running(view: SessionView | null): RunningSession | undefined {
  if (!view || view.status === "expired" || view.status === "canceled") return undefined;
  const { status, livemode = false, amount, expiresAt = "" } = view;
  return amount && { ...view, status, livemode, amount, expiresAt };
}

function readPayment(id: string | undefined, status: string | undefined): SessionView["payment"] {
  return id && status ? { id, status } : undefined;
}

/** All of them or none: a part would be another sum. */
function readLines(json: unknown, currency: string | undefined, locale: string): SessionView["lineItems"] {
  if (!Array.isArray(json) || json.length === 0 || !currency) return undefined;
  const lines = json.flatMap((entry): LineItem[] => {
    const of = fieldsOf(entry);
    const [name, quantity, amount] = [of.text("name"), of.any("quantity"), of.any("amount")];
    if (!name || typeof quantity !== "number" || typeof amount !== "number") return [];
    return [{ name, quantity, amount: moneyOf(amount, currency, locale) }];
  });
  return lines.length === json.length ? lines : undefined;
}

function readLegal(json: unknown): LegalView | undefined {
  const of = fieldsOf(json);
  const legal = {
    ...given("name", of.text("name")),
    ...given("termsUrl", webAddress(of.text("terms_url"))),
    ...given("privacyUrl", webAddress(of.text("privacy_url"))),
  };
  return Object.keys(legal).length > 0 ? legal : undefined;
}

function readBranding(json: unknown): BrandingView {
  const of = fieldsOf(json);
  return {
    ...given("tagline", of.text("tagline")),
    ...given("logoUrl", webAddress(of.text("logo_url"))),
    ...given("accentColor", of.text("accent_color")),
    ...given("secondaryColor", of.text("secondary_color")),
    ...given("buttonStyle", of.text("button_style")),
    ...given("backgroundStyle", of.text("background_style")),
    ...given("theme", of.text("theme")),
    ...given("fontFamily", of.text("font_family")),
  };
}

function fieldsOf(json: unknown) {
  const fields = new Map<string, unknown>(Object.entries(membersOf(json)));
  return {
    any: (name: string) => fields.get(name),
    text(name: string): string | undefined {
      const value = fields.get(name);
      return typeof value === "string" && value !== "" ? value : undefined;
    },
  };
}

function given<K extends string, T>(name: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: T });
}

/** A link that a page may offer; `javascript:` is none. */
function webAddress(text: string | undefined): string | undefined {
  return text && /^https?:\/\//i.test(text) ? text : undefined;
}
