// Encodes the merchant's branding (docs/contract.md §8) as the style sheet's query, which branding-css.ts reads. The
// page is styled from the first byte without an inline style.

/** Subset of the SDK's BrandingView. */
export interface BrandingValues {
  readonly theme?: string;
  readonly accentColor?: string;
  readonly secondaryColor?: string;
  readonly buttonStyle?: string;
  readonly backgroundStyle?: string;
  readonly fontFamily?: string;
}

const colours = /^#[0-9a-f]{6}$/i;

/** The query, deterministic; empty for the default branding. */
export function brandingQuery(branding: BrandingValues): string {
  const { theme, accentColor, secondaryColor, buttonStyle, backgroundStyle, fontFamily } = branding;
  const colour = (text: string | undefined) => (text && colours.test(text) ? text.slice(1).toLowerCase() : undefined);
  const values = {
    theme: theme !== "light" && theme,
    accent: colour(accentColor),
    second: colour(secondaryColor),
    button: buttonStyle !== "rounded" && buttonStyle,
    background: backgroundStyle !== "subtle" && backgroundStyle,
    font: fontFamily !== "inter" && fontFamily,
  };
  const entries = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return new URLSearchParams(entries).toString();
}
