// The merchant itself: read, profile, branding (docs/contract.md §8).
import { Type } from "typebox";
import { enumSchema, jsonComponent } from "../../services/public-json/field.ts";
import { presentMessage } from "../../services/public-json/present.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { displayLine, notBlank } from "../http/display-text.ts";
import { httpsUrl } from "../http/own-formats.ts";
import {
  BrandingJson,
  backgroundStyles,
  buttonStyles,
  emailFields,
  emailReceipts,
  fontFamilies,
  presentBranding,
  themes,
} from "../json/branding.ts";
import { MerchantJson, ProfileJson, presentMerchant } from "../json/merchant.ts";
import { changeOf, clearable, currencyInput, emailInput, emailOf, httpsUrlOf } from "../json/parts/input.ts";
import type { Peers } from "../peers.ts";

const tag = "Merchant";
const upperCase = (text: string) => text.toUpperCase();
const lowerCase = (text: string) => text.toLowerCase();

const ProfileChange = jsonComponent(
  "MerchantProfileChange",
  Type.Object({
    name: Type.Optional(
      Type.String({
        format: displayLine,
        minLength: 1,
        maxLength: 100,
        pattern: notBlank,
        examples: ["Lemon Books"],
      }),
    ),
    legal_name: Type.Optional(clearable({ format: displayLine, maxLength: 200, examples: ["Lemon Books GmbH"] })),
    email: Type.Optional(emailInput("Contact e-mail.")),
    phone: Type.Optional(
      clearable({ pattern: "^\\+[1-9][0-9]{6,14}$", description: "E.164.", examples: ["+49301234567"] }),
    ),
    website: Type.Optional(
      clearable({
        format: httpsUrl,
        maxLength: 2048,
        description: "https URL.",
        examples: ["https://lemonbooks.example"],
      }),
    ),
    country: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z]{2}$",
        description: "ISO 3166-1 alpha-2; must equal the current value.",
        examples: ["DE"],
      }),
    ),
    currency: Type.Optional(currencyInput("ISO 4217; must equal the current value.")),
  }),
);

const color = (description: string) =>
  clearable({ pattern: "^#[0-9A-Fa-f]{6}$", description: `${description}, \`#rrggbb\`.`, examples: ["#0a7d4f"] });

const legalUrl = (what: string, example: string) =>
  clearable({ format: httpsUrl, maxLength: 2048, description: `https URL of the ${what}.`, examples: [example] });

const BrandingChange = jsonComponent(
  "BrandingChange",
  Type.Object({
    display_name: Type.Optional(clearable({ format: displayLine, maxLength: 100, examples: ["Lemon Books"] })),
    tagline: Type.Optional(clearable({ format: displayLine, maxLength: 140, examples: ["Books with zest"] })),
    logo_url: Type.Optional(
      clearable({
        format: httpsUrl,
        maxLength: 2048,
        description: "https URL.",
        examples: ["https://lemonbooks.example/logo.svg"],
      }),
    ),
    accent_color: Type.Optional(color("Accent")),
    secondary_color: Type.Optional(color("Second colour")),
    support_email: Type.Optional(clearable({ format: "email", maxLength: 254, examples: ["help@lemonbooks.example"] })),
    button_style: Type.Optional(enumSchema(buttonStyles, "Buttons.")),
    background_style: Type.Optional(enumSchema(backgroundStyles, "Background.")),
    theme: Type.Optional(enumSchema(themes, "Theme.")),
    font_family: Type.Optional(enumSchema(fontFamilies, "Font.")),
    terms_url: Type.Optional(legalUrl("terms", "https://lemonbooks.example/terms")),
    privacy_url: Type.Optional(legalUrl("privacy notice", "https://lemonbooks.example/privacy")),
    email_field: Type.Optional(
      enumSchema(emailFields, "Whether the hosted page asks for the buyer's e-mail if you did not set it."),
    ),
    email_receipts: Type.Optional(enumSchema(emailReceipts, "Whether buyers get receipts by e-mail.")),
  }),
);

export function merchantRoutes(context: GatewayContext, { merchants }: Pick<Peers, "merchants">): void {
  merchantRoute(context, {
    id: "getMerchant",
    method: "GET",
    path: "/v1/merchants/me",
    scope: "merchant:read",
    tag,
    summary: "Read the merchant",
    description: "With the profile of the key's environment.",
    response: MerchantJson,
    handle: async ({ principal: { merchantId, environment } }) =>
      presentMerchant((await merchants.getMerchant({ merchantId, environment })).merchant),
  });
  changeProfile(context, merchants);
  merchantRoute(context, {
    id: "getBranding",
    method: "GET",
    path: "/v1/merchants/me/branding",
    scope: "merchant:read",
    tag,
    summary: "Read the checkout branding",
    description: "As buyers see it in the key's environment.",
    response: BrandingJson,
    handle: async ({ principal: { merchantId, environment } }) =>
      presentBranding((await merchants.getBranding({ merchantId, environment })).branding),
  });
  changeBranding(context, merchants);
}

function changeProfile(context: GatewayContext, merchants: Peers["merchants"]): void {
  merchantRoute(context, {
    id: "updateProfile",
    method: "PATCH",
    path: "/v1/merchants/me/profile",
    scope: "merchant:write",
    tag,
    summary: "Change the profile",
    description:
      "Absent fields are unchanged; `null` clears legal_name, phone or website. `country` and `currency` cannot be changed: any other value is refused. Each environment has its own profile: a sandbox key does not affect live buyers.",
    body: ProfileChange,
    response: ProfileJson,
    handle: async ({ principal: { merchantId, environment }, body }) => {
      const { merchant } = await merchants.updateProfile({
        merchantId,
        environment,
        country: changeOf(body.country, upperCase),
        currency: changeOf(body.currency, upperCase),
        name: body.name,
        legalName: changeOf(body.legal_name),
        email: changeOf(body.email, emailOf),
        phone: changeOf(body.phone),
        website: changeOf(body.website, (url) => httpsUrlOf("website", url)),
      });
      return presentMessage(ProfileJson, merchant);
    },
  });
}

function changeBranding(context: GatewayContext, merchants: Peers["merchants"]): void {
  merchantRoute(context, {
    id: "updateBranding",
    method: "PATCH",
    path: "/v1/merchants/me/branding",
    scope: "merchant:write",
    tag,
    summary: "Change the checkout branding",
    description:
      "Absent fields are unchanged; `null` clears a name, text, address or colour. Each environment has its own branding: a sandbox key does not affect live buyers.",
    body: BrandingChange,
    response: BrandingJson,
    handle: async ({ principal: { merchantId, environment }, body }) => {
      const { branding } = await merchants.updateBranding({
        merchantId,
        environment,
        displayName: changeOf(body.display_name),
        tagline: changeOf(body.tagline),
        logoUrl: changeOf(body.logo_url, (url) => httpsUrlOf("logo_url", url)),
        accentColor: changeOf(body.accent_color, lowerCase),
        secondaryColor: changeOf(body.secondary_color, lowerCase),
        supportEmail: changeOf(body.support_email, emailOf),
        buttonStyle: body.button_style,
        backgroundStyle: body.background_style,
        theme: body.theme,
        fontFamily: body.font_family,
        termsUrl: changeOf(body.terms_url, (url) => httpsUrlOf("terms_url", url)),
        privacyUrl: changeOf(body.privacy_url, (url) => httpsUrlOf("privacy_url", url)),
        emailField: body.email_field,
        emailReceipts: body.email_receipts,
      });
      return presentBranding(branding);
    },
  });
}
