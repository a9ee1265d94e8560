// Builds the style sheet of a merchant's page from its URL query (branding-query.ts). Accepts only known values and
// plain colours, and computes every text colour to be readable.
import { type Colour, colourOf, mix, needsEdge, readableOn, textOn } from "./contrast.ts";

type Scheme = "light" | "dark";

const accentDefault = { light: "#2447d6", dark: "#8ea5ff" };
const grounds = {
  light: { surface: "#ffffff", page: "#f4f6fa", text: "#151c2c", muted: "#56607a" },
  dark: { surface: "#1a202c", page: "#10141d", text: "#eef1f7", muted: "#a9b3c7" },
} as const;

/** Overrides of the sheet's light colours. */
const darkGround = {
  "--surface": grounds.dark.surface,
  "--text": grounds.dark.text,
  "--muted": grounds.dark.muted,
  "--border": "#3a4458",
  "--bone": "#2a3344",
  "--danger": "#ffaaa3",
  "--danger-soft": "#3b1b1c",
  "--success": "#7ce0b0",
  "--success-soft": "#12352a",
  "--warn-soft": "#3a2f12",
  "--warn-text": "#ffd98a",
  "--plate": "#ffffff",
  "color-scheme": "dark",
};

const radius = new Map([
  ["pill", "999px"],
  ["rectangular", "2px"],
]);

/**
 * Families that the buyer's device may have. No font is loaded: text neither waits nor moves, and no third party sees
 * the visit.
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

/** @param query unchecked; unknown values are ignored */
export function brandingCss(query: Readonly<Record<string, unknown>>): string {
  const value = (name: string) => (typeof query[name] === "string" ? query[name] : "");
  const style = {
    accent: colourOf(`#${value("accent")}`),
    second: colourOf(`#${value("second")}`),
    background: value("background"),
    shapes: {
      "--button-radius": radius.get(value("button")) ?? "0.625rem",
      "--font": fontOf(value("font") || "inter"),
    },
  };
  const light = rule({ ...valuesOf(style, "light"), ...style.shapes });
  const dark = rule({ ...darkGround, ...valuesOf(style, "dark") });
  switch (value("theme")) {
    case "dark":
      return light + dark;
    case "auto":
      return `${light}@media (prefers-color-scheme:dark){${dark}}`;
    default:
      return light;
  }
}

interface BrandingStyle {
  readonly accent: Colour | undefined;
  readonly second: Colour | undefined;
  readonly background: string;
}

function valuesOf(style: BrandingStyle, scheme: Scheme): Record<string, string> {
  const ground = grounds[scheme];
  const accent = style.accent ?? accentDefault[scheme];
  const page = pageColour(style, accent, scheme);
  const onPage = page.solid ? textOn(page.colour) : ground.text;
  return {
    "--accent": accent,
    "--on-accent": textOn(accent),
    "--accent-edge": needsEdge(accent, ground.surface) ? ground.muted : accent,
    "--link": readableOn(accent, [ground.surface, page.colour]),
    "--page": page.colour,
    "--page-end": page.end,
    "--on-page": onPage,
    "--on-page-muted": page.solid ? readableOn(mix(onPage, page.colour, 0.25), [page.colour]) : ground.muted,
    "--on-page-link": page.solid ? onPage : readableOn(accent, [page.colour, page.end]),
  };
}

interface PageColour {
  readonly colour: Colour;
  /** Lower end of a gradient. */
  readonly end: Colour;
  /** The merchant's own colour, on which our text colours may be unreadable. */
  readonly solid: boolean;
}

function pageColour({ background, second }: BrandingStyle, accent: Colour, scheme: Scheme): PageColour {
  const ground = grounds[scheme];
  switch (background) {
    case "plain":
      return { colour: ground.surface, end: ground.surface, solid: false };
    case "solid":
      return { colour: second ?? accent, end: second ?? accent, solid: true };
    case "gradient":
      return { colour: mix(ground.page, second ?? accent, 0.14), end: ground.page, solid: false };
    default: {
      // A hint of the merchant's colour around the white fields.
      const colour = mix(ground.page, accent, 0.04);
      return { colour, end: colour, solid: false };
    }
  }
}

function rule(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => `${name}:${value}`);
  return `:root{${lines.join(";")}}`;
}

function fontOf(family: string): string {
  const name = fonts.get(family);
  return name ? `"${name}", ${family === "noto_serif" ? serif : sans}` : sans;
}
