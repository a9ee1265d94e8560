// The fields of the branding: name in the API, label, and allowed values.
import {
  backgroundStyles,
  buttonStyles,
  emailFields,
  emailReceipts,
  fontFamilies,
  themes,
} from "../../../json/branding.ts";
import { type Form, isLine } from "../../http/form.ts";
import type { Catalogue } from "../../texts/texts.ts";

type Label = keyof Catalogue["branding"];

export interface BrandingField {
  readonly name: string;
  readonly label: Label;
  readonly hint?: Label;
  readonly kind: "text" | "url" | "email" | "colour" | "choice";
  readonly lengthMax: number;
  readonly choices?: readonly string[];
}

const urlMax = 2_048;
const emailMax = 254;
const choiceLengthMax = 40;

const choice = (name: string, label: Label, choices: readonly string[], hint?: Label): BrandingField => {
  return { name, label, kind: "choice", lengthMax: choiceLengthMax, choices, ...(hint && { hint }) };
};

export const brandingFields: readonly BrandingField[] = [
  { name: "display_name", label: "name", hint: "nameHint", kind: "text", lengthMax: 100 },
  { name: "tagline", label: "tagline", kind: "text", lengthMax: 140 },
  { name: "logo_url", label: "logo", hint: "logoHint", kind: "url", lengthMax: urlMax },
  { name: "accent_color", label: "accent", hint: "accentHint", kind: "colour", lengthMax: 7 },
  { name: "secondary_color", label: "secondary", hint: "secondaryHint", kind: "colour", lengthMax: 7 },
  choice("button_style", "button", buttonStyles),
  choice("background_style", "background", backgroundStyles),
  choice("theme", "theme", themes),
  choice("font_family", "font", fontFamilies, "fontHint"),
  { name: "support_email", label: "support", kind: "email", lengthMax: emailMax },
  { name: "terms_url", label: "terms", kind: "url", lengthMax: urlMax },
  { name: "privacy_url", label: "privacy", kind: "url", lengthMax: urlMax },
  choice("email_field", "emailField", emailFields, "emailFieldHint"),
  choice("email_receipts", "receipts", emailReceipts, "receiptsHint"),
];

export type TypedBranding = Readonly<Record<string, string>>;

export function typedBranding(form: Form): TypedBranding {
  return Object.fromEntries(
    brandingFields.map(({ name, kind }) => [name, kind === "colour" ? form.text(name).toLowerCase() : form.text(name)]),
  );
}

/** Invalid fields; the merchant service checks more. */
export function wrongBranding(typed: TypedBranding): Set<string> {
  const fits = ({ name, kind, lengthMax, choices }: BrandingField) => {
    const value = typed[name] ?? "";
    if (!isLine(value, lengthMax)) return false;
    if (kind === "choice") return choices?.includes(value) ?? false;
    return kind !== "colour" || value === "" || /^#[0-9a-f]{6}$/.test(value);
  };
  return new Set(brandingFields.filter((field) => !fits(field)).map(({ name }) => name));
}
