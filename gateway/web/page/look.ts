// The merchant's branding (docs/contract.md §8) as custom properties: known words and plain colours only, every text
// colour computed to be readable.
import type { Appearance, BrandingView } from "../sdk/contract.ts";
import { type Colour, colourOf, mix, needsEdge, readableOn, textOn } from "./contrast.ts";

const accentDefault = { light: "#2447d6", dark: "#8ea5ff" };
const grounds = {
  light: { surface: "#ffffff", page: "#f4f6fa", text: "#151c2c", muted: "#56607a" },
  dark: { surface: "#1a202c", page: "#10141d", text: "#eef1f7", muted: "#a9b3c7" },
} as const;

const radius = new Map([
  ["rounded", "10px"],
  ["pill", "999px"],
  ["rectangular", "2px"],
]);

/**
 * Families that the buyer's device may have: no font is loaded, so no text waits or jumps and nobody else hears of the
 * visit.
 */
const fonts = new Map([
  ["inter", "Inter"],
  ["roboto", "Roboto"],
  ["open_sans", "Open Sans"],
  ["lato", "Lato"],
  ["montserrat", "Montserrat"],
  ["nunito", "Nunito"],
  ["source_sans_pro", "Source Sans Pro"],
  ["noto_sans", "Noto Sans"],
  ["noto_serif", "Noto Serif"],
]);
const sans = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const serif = 'Georgia, "Times New Roman", serif';

/** Puts the look on the page. @returns how the processor's fields should look in it */
export function applyLook(root: HTMLElement, branding: BrandingView): Appearance {
  const scheme = schemeOf(branding.theme);
  const ground = grounds[scheme];
  const accent = colourOf(branding.accentColor) ?? accentDefault[scheme];
  const page = pageColour(branding, accent, ground);
  const onPage = page.solid ? textOn(page.colour) : ground.text;
  root.dataset.theme = scheme;
  const values: Record<string, string> = {
    "--accent": accent,
    "--on-accent": textOn(accent),
    "--accent-edge": needsEdge(accent, ground.surface) ? ground.muted : accent,
    "--link": readableOn(accent, [ground.surface, page.colour]),
    "--page": page.colour,
    "--page-end": page.end,
    "--on-page": onPage,
    "--on-page-muted": page.solid ? readableOn(mix(onPage, page.colour, 0.25), [page.colour]) : ground.muted,
    "--on-page-link": page.solid ? onPage : readableOn(accent, [page.colour, page.end]),
    "--button-radius": radius.get(branding.buttonStyle ?? "") ?? "10px",
    "--font": fontOf(branding.fontFamily),
  };
  for (const [name, value] of Object.entries(values)) root.style.setProperty(name, value);
  const { buttonStyle } = branding;
  const shape = buttonStyle === "pill" || buttonStyle === "rectangular" ? buttonStyle : "rounded";
  return { theme: scheme, accentColor: accent, buttonStyle: shape };
}

function schemeOf(theme: string | undefined): "light" | "dark" {
  if (theme === "dark") return "dark";
  return theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

interface PageColour {
  readonly colour: Colour;
  /** Lower end of a gradient. */
  readonly end: Colour;
  /** The merchant's own colour, on which our text colours may not work. */
  readonly solid: boolean;
}

function pageColour(branding: BrandingView, accent: Colour, ground: { surface: Colour; page: Colour }): PageColour {
  const secondary = colourOf(branding.secondaryColor);
  switch (branding.backgroundStyle) {
    case "plain":
      return { colour: ground.surface, end: ground.surface, solid: false };
    case "solid":
      return { colour: secondary ?? accent, end: secondary ?? accent, solid: true };
    case "gradient":
      return { colour: mix(ground.page, secondary ?? accent, 0.08), end: ground.page, solid: false };
    default:
      return { colour: ground.page, end: ground.page, solid: false };
  }
}

function fontOf(family: string | undefined): string {
  const name = fonts.get(family ?? "");
  if (!name) return sans;
  return `"${name}", ${family === "noto_serif" ? serif : sans}`;
}
