// Checkout branding as public JSON (docs/contract.md §4 and §8).
import { type Static, Type } from "typebox";
import type { Branding } from "#proto/merchant/v1/merchant_pb.ts";
import { component, given, listed, textSchema } from "./parts/field.ts";

export const buttonStyles = ["rounded", "pill", "rectangular"] as const;
export const backgroundStyles = ["subtle", "plain", "gradient", "solid"] as const;
export const themes = ["light", "dark", "auto"] as const;
export const fontFamilies = [
  "inter",
  "system",
  "roboto",
  "open_sans",
  "lato",
  "montserrat",
  "nunito",
  "source_sans_pro",
  "noto_sans",
  "noto_serif",
] as const;

export const emailFields = ["hidden", "optional", "required"] as const;
export const emailReceipts = ["off", "on"] as const;

export const BrandingJson = component(
  "Branding",
  Type.Object({
    display_name: Type.Optional(textSchema("Name on the page.", "Lemon Books")),
    tagline: Type.Optional(textSchema("Line under the name.")),
    logo_url: Type.Optional(textSchema("https URL of the logo.")),
    accent_color: Type.Optional(textSchema("`#rrggbb`.", "#0a7d4f")),
    secondary_color: Type.Optional(textSchema("`#rrggbb`.")),
    support_email: Type.Optional(textSchema("For buyers' questions.")),
    button_style: Type.Optional(textSchema(listed(buttonStyles), "rounded")),
    background_style: Type.Optional(textSchema(listed(backgroundStyles), "subtle")),
    theme: Type.Optional(textSchema(listed(themes), "light")),
    font_family: Type.Optional(textSchema(listed(fontFamilies), "inter")),
    terms_url: Type.Optional(textSchema("https URL of the terms, linked on the hosted page.")),
    privacy_url: Type.Optional(textSchema("https URL of the privacy notice, linked on the hosted page.")),
    email_field: Type.Optional(
      textSchema(`Whether the hosted page asks for the buyer's e-mail: ${listed(emailFields)}`, "optional"),
    ),
    email_receipts: Type.Optional(textSchema(`Whether buyers get receipts by e-mail: ${listed(emailReceipts)}`, "on")),
  }),
);

/** The branding, without the fields that are not set. */
export function presentBranding(branding: Branding | undefined): Static<typeof BrandingJson> {
  if (!branding) throw new Error("the branding is missing");
  return {
    ...given("display_name", branding.displayName),
    ...given("tagline", branding.tagline),
    ...given("logo_url", branding.logoUrl),
    ...given("accent_color", branding.accentColor),
    ...given("secondary_color", branding.secondaryColor),
    ...given("support_email", branding.supportEmail),
    ...given("button_style", branding.buttonStyle),
    ...given("background_style", branding.backgroundStyle),
    ...given("theme", branding.theme),
    ...given("font_family", branding.fontFamily),
    ...given("terms_url", branding.termsUrl),
    ...given("privacy_url", branding.privacyUrl),
    ...given("email_field", branding.emailField),
    ...given("email_receipts", branding.emailReceipts),
  };
}
