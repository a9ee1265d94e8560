// The branding of the payment page: a form that works without script, and a preview that follows the input.
import { Failure } from "#platform/values/failure.ts";
import { type Html, html } from "../../../html.ts";
import {
  backgroundStyles,
  buttonStyles,
  emailFields,
  emailReceipts,
  fontFamilies,
  presentBranding,
  themes,
} from "../../../json/branding.ts";
import { type Form, formFields, isLine, refusedFields } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { type Catalogue, fillText, textsOf } from "../../texts/texts.ts";
import { hiddenField, problemSummary, selectField, textField } from "../../view/fields.ts";
import { renderTakeOver, shownEnvironment } from "../../view/from-sandbox.ts";
import { factList } from "../../view/table.ts";
import { brandingLogoRoutes, logoForm } from "./branding-logo.ts";
import { previewPanel } from "./branding-preview.ts";

type Wrong = ReadonlySet<string>;

const problems = {
  text: "textWrong",
  url: "urlWrong",
  email: "emailWrong",
  colour: "colourWrong",
  choice: "choiceWrong",
} as const;

// The page's default color.
const pickerStart = "#2447d6";

export function brandingRoutes(context: ConsoleContext): void {
  merchantPage(context, "/branding", undefined, async (visit) => {
    return brandingPage(context, visit, await storedBranding(context, visit));
  });
  merchantForm(context, "/branding", { action: "branding.write" }, (visit, form) => save(context, visit, form));
  brandingLogoRoutes(context, async (visit, logoProblem) => {
    return brandingPage(context, visit, await storedBranding(context, visit), { logoProblem });
  });
}

async function storedBranding({ peers }: ConsoleContext, visit: MerchantVisit): Promise<TypedBranding> {
  const { merchantId } = visit;
  const environment = shownEnvironment(visit);
  const { branding } = await peers.merchants.getBranding({ merchantId, environment });
  if (!branding) throw new Failure("NOT_FOUND");
  return { ...presentBranding(branding) };
}

async function save(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, base } = visit;
  const typed = typedBranding(form);
  const wrong = wrongBranding(typed);
  if (wrong.size > 0) return brandingPage(context, visit, typed, { wrong });
  const of = (name: string) => typed[name] ?? "";
  try {
    await context.peers.merchants.updateBranding({
      merchantId,
      environment,
      displayName: of("display_name"),
      tagline: of("tagline"),
      logoUrl: of("logo_url"),
      accentColor: of("accent_color"),
      secondaryColor: of("secondary_color"),
      supportEmail: of("support_email"),
      buttonStyle: of("button_style"),
      backgroundStyle: of("background_style"),
      theme: of("theme"),
      fontFamily: of("font_family"),
      termsUrl: of("terms_url"),
      privacyUrl: of("privacy_url"),
      emailField: of("email_field"),
      emailReceipts: of("email_receipts"),
    });
    return { go: `${base}/branding`, done: "branding-saved" };
  } catch (error) {
    return brandingPage(context, visit, typed, { wrong: refusedFields(error) });
  }
}

function brandingPage(
  context: ConsoleContext,
  visit: MerchantVisit,
  typed: TypedBranding,
  { wrong = new Set(), logoProblem = "" }: { readonly wrong?: Wrong; readonly logoProblem?: string } = {},
): Page {
  const texts = textsOf(visit.language).branding;
  const summary = brandingFields
    .filter(({ name }) => wrong.has(name))
    .map(({ name, label, kind }) => [name, `${textOf(visit, label)}: ${texts[problems[kind]]}`] as const);
  return {
    title: texts.title,
    status: wrong.size > 0 || logoProblem !== "" ? 422 : 200,
    body: html`<h1>${texts.title}</h1><p class="muted">${texts.about}</p>
${renderTakeOver(visit, "branding", "branding.write")}${problemSummary(textsOf(visit.language).frame.problemTitle, summary)}
<div class="with-preview" data-with-preview>${visit.may("branding.write") ? html`<div class="places">${logoForm(context, visit, logoProblem)}${formOf(visit, typed, wrong)}</div>` : readOnly(visit, typed)}
${previewPanel(visit)}</div>`,
  };
}

function formOf(visit: MerchantVisit, typed: TypedBranding, wrong: Wrong): Html {
  const fields = brandingFields.map((field) => fieldOf(visit, field, typed[field.name] ?? "", wrong));
  return html`<form method="post" action="${visit.base}/branding" class="panel" data-preview-source>${hiddenField(formFields.token, visit.token)}
${fields}
<button class="button">${textsOf(visit.language).branding.save}</button></form>`;
}

function fieldOf(visit: MerchantVisit, field: BrandingField, value: string, wrong: Wrong): Html {
  const texts = textsOf(visit.language).branding;
  const { name, kind, lengthMax, choices = [] } = field;
  const label = textOf(visit, field.label);
  const parts = {
    name,
    label,
    value,
    ...(field.hint && { hint: textOf(visit, field.hint) }),
    problem: wrong.has(name) ? texts[problems[kind]] : "",
  };
  if (kind === "choice") {
    return selectField({
      ...parts,
      choices: choices.map((choice) => ({ value: choice, label: formatChoice(visit, choice) })),
    });
  }
  if (kind === "colour") {
    return html`<div class="with-colour">${textField({ ...parts, maxlength: lengthMax, placeholder: "#0a7d4f" })}
<input type="color" value="${pickerStart}" data-colour-of="${name}" aria-label="${fillText(texts.picker, { label })}" hidden></div>`;
  }
  const type = kind === "text" ? {} : { type: kind, inputmode: kind };
  return textField({ ...parts, ...type, maxlength: lengthMax });
}

function readOnly(visit: MerchantVisit, typed: TypedBranding): Html {
  const rows = brandingFields.map(({ name, label, kind }): [string, string] => {
    const value = typed[name] ?? "";
    return [textOf(visit, label), kind === "choice" ? formatChoice(visit, value) : value];
  });
  return html`<section class="panel"><p class="muted">${textsOf(visit.language).branding.readOnly}</p>${factList(rows)}</section>`;
}

/** Fonts have no text; their code becomes a name. */
function formatChoice(visit: MerchantVisit, choice: string): string {
  const text = new Map<string, unknown>(Object.entries(textsOf(visit.language).branding)).get(choice);
  if (typeof text === "string") return text;
  return choice.replace(
    /(^|_)([a-z])/g,
    (_, gap: string, letter: string) => `${gap ? " " : ""}${letter.toUpperCase()}`,
  );
}

function textOf({ language }: MerchantVisit, label: BrandingField["label"]): string {
  const text = textsOf(language).branding[label];
  return typeof text === "string" ? text : "";
}

type Label = keyof Catalogue["branding"];

interface BrandingField {
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

const brandingFields: readonly BrandingField[] = [
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

type TypedBranding = Readonly<Record<string, string>>;

function typedBranding(form: Form): TypedBranding {
  return Object.fromEntries(
    brandingFields.map(({ name, kind }) => [name, kind === "colour" ? form.text(name).toLowerCase() : form.text(name)]),
  );
}

/** Invalid fields; the merchant service checks more. */
function wrongBranding(typed: TypedBranding): Set<string> {
  const fits = ({ name, kind, lengthMax, choices }: BrandingField) => {
    const value = typed[name] ?? "";
    if (!isLine(value, lengthMax)) return false;
    if (kind === "choice") return choices?.includes(value) ?? false;
    return kind !== "colour" || value === "" || /^#[0-9a-f]{6}$/.test(value);
  };
  return new Set(brandingFields.filter((field) => !fits(field)).map(({ name }) => name));
}
