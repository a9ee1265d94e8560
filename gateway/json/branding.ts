// Checkout branding as public JSON (docs/contract.md §4 and §8).
import { type Static, Type } from "typebox";
import type { Branding } from "#proto/merchant/v1/merchant_pb.ts";
import { jsonComponent, listValues, textSchema } from "../../services/public-json/field.ts";
import { presentMessage } from "../../services/public-json/present.ts";

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

export const BrandingJson = jsonComponent(
  "Branding",
  Type.Object({
    display_name: Type.Optional(textSchema("Name shown on the page.", "Lemon Books")),
    tagline: Type.Optional(textSchema("Line under the name.")),
    logo_url: Type.Optional(textSchema("https URL of the logo.")),
    accent_color: Type.Optional(textSchema("`#rrggbb`.", "#0a7d4f")),
    secondary_color: Type.Optional(textSchema("`#rrggbb`.")),
    support_email: Type.Optional(textSchema("Contact for buyers.")),
    button_style: Type.Optional(textSchema(listValues(buttonStyles), "rounded")),
    background_style: Type.Optional(textSchema(listValues(backgroundStyles), "subtle")),
    theme: Type.Optional(textSchema(listValues(themes), "light")),
    font_family: Type.Optional(textSchema(listValues(fontFamilies), "inter")),
    terms_url: Type.Optional(textSchema("https URL of the terms, linked on the hosted page.")),
    privacy_url: Type.Optional(textSchema("https URL of the privacy notice, linked on the hosted page.")),
    email_field: Type.Optional(
      textSchema(`Whether the hosted page asks for the buyer's e-mail: ${listValues(emailFields)}`, "optional"),
    ),
    email_receipts: Type.Optional(
      textSchema(`Whether buyers get receipts by e-mail: ${listValues(emailReceipts)}`, "on"),
    ),
  }),
);

export function presentBranding(branding: Branding | undefined): Static<typeof BrandingJson> {
  return presentMessage(BrandingJson, branding);
}
