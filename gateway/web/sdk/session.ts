// Converts the API's session JSON to the SDK's view and render. Ignores unknown fields and wrong types.
import type { BrandingView, LegalView, LineItem, RunningSession, SessionView } from "./contract.ts";
import { membersOf, optionalMember } from "./members.ts";
import { moneyOf } from "./money.ts";
import { type Render, readRender } from "./render.ts";

export interface ReadSession {
  readonly view: SessionView;
  /** Undefined if no surface can be mounted. */
  readonly render: Render | undefined;
}

const statuses = ["open", "processing", "completed", "expired", "canceled"] as const;

/** Undefined if the JSON is not a session. */
export function readSession(json: unknown, locale: string): ReadSession | undefined {
  const of = fieldsOf(json);
  const status = statuses.find((known) => known === of.text("status"));
  const id = of.text("id");
  const [currency, amount, environment] = [of.text("currency"), of.any("amount"), of.text("environment")];
  const money = currency && typeof amount === "number" ? moneyOf(amount, currency, locale) : undefined;
  // A session that ended unpaid has no amount.
  const isOver = status === "expired" || status === "canceled";
  if (!status || !id || (!money && !isOver)) return undefined;
  const merchant = fieldsOf(of.any("merchant"));
  const render = readRender(of.any("render"));
  const view: SessionView = {
    id,
    status,
    ...(environment && { livemode: environment === "live" }),
    ...optionalMember("amount", money),
    merchant: { displayName: merchant.text("display_name") ?? "", ...merchant.texts("support_email") },
    branding: readBranding(of.any("branding")),
    surface: { kind: render?.kind ?? "none", connector: of.text("connector") ?? "" },
    ...of.texts("email_field receipt_email description expires_at paid_at reference"),
    ...of.links("receipt_url receipt_page_url success_url cancel_url return_url"),
    ...optionalMember("lineItems", readLines(of.any("line_items"), currency, locale)),
    ...optionalMember("legal", readLegal(of.any("legal"))),
    ...optionalMember("payment", readPayment(of.text("payment_id"), of.text("payment_status"))),
    ...optionalMember("card", readCard(of.any("card"))),
  };
  return { view, render };
}

/** Undefined for a session that ended unpaid or is not loaded. */
export function runningSession(view: SessionView | null): RunningSession | undefined {
  if (!view || view.status === "expired" || view.status === "canceled") return undefined;
  const { status, livemode = false, amount, expiresAt = "" } = view;
  return amount && { ...view, status, livemode, amount, expiresAt };
}

function readPayment(id: string | undefined, status: string | undefined): SessionView["payment"] {
  return id && status ? { id, status } : undefined;
}

function readCard(json: unknown): SessionView["card"] {
  const of = fieldsOf(json);
  const [brand, last4] = [of.text("brand"), of.text("last4")];
  return brand && last4 ? { brand, last4 } : undefined;
}

/** All lines or none: a part would have another total. */
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
  const legal = { ...of.texts("name"), ...of.links("terms_url privacy_url") };
  return Object.keys(legal).length > 0 ? legal : undefined;
}

function readBranding(json: unknown): BrandingView {
  const of = fieldsOf(json);
  const names = "tagline accent_color secondary_color button_style background_style theme font_family";
  return { ...of.texts(names), ...of.links("logo_url") };
}

function fieldsOf(json: unknown) {
  const fields = membersOf(json);
  const any = (name: string) => fields[name];
  const text = (name: string): string | undefined => {
    const value = any(name);
    return (typeof value === "string" && value) || undefined;
  };
  /** The non-empty ones of the form, `a_b` as `aB`. */
  const texts = (names: string, form = /^/): Record<string, string> =>
    Object.fromEntries(
      names.split(" ").flatMap((name) => {
        const value = text(name);
        return value && form.test(value) ? [[name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()), value]] : [];
      }),
    );
  // Rejects `javascript:` and other schemes.
  return { any, text, texts, links: (names: string) => texts(names, /^https?:\/\//i) };
}
