// The merchant's branding (docs/contract.md §8) as words of the style sheet's address, from which look-css.ts makes the
// sheet: known words and plain colours only. The page has its look from the first byte, and no inline style.

/** As the SDK's BrandingView. */
export interface BrandingValues {
  readonly theme?: string;
  readonly accentColor?: string;
  readonly secondaryColor?: string;
  readonly buttonStyle?: string;
  readonly backgroundStyle?: string;
  readonly fontFamily?: string;
}

const colours = /^#[0-9a-f]{6}$/i;

/** What stands after the `?`; empty: the default look. The same branding gives the same address. */
export function brandingQuery(branding: BrandingValues): string {
  const { theme, accentColor, secondaryColor, buttonStyle, backgroundStyle, fontFamily } = branding;
  const colour = (text: string | undefined) => (text && colours.test(text) ? text.slice(1).toLowerCase() : undefined);
  const words = {
    theme: theme !== "light" && theme,
    accent: colour(accentColor),
    second: colour(secondaryColor),
    button: buttonStyle !== "rounded" && buttonStyle,
    background: backgroundStyle !== "subtle" && backgroundStyle,
    font: fontFamily !== "inter" && fontFamily,
  };
  const entries = Object.entries(words).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return new URLSearchParams(entries).toString();
}
