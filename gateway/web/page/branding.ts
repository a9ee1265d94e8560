// Applies the merchant's branding to the page and to the processor's fields.
import { brandingQuery } from "../branding/branding-query.ts";
import type { Appearance, BrandingView } from "../sdk/contract.ts";

const colours = /^#[0-9a-f]{6}$/i;
const accentDefault = { light: "#2447d6", dark: "#8ea5ff" };

export function appearanceOf({ theme, accentColor, buttonStyle }: BrandingView): Appearance {
  const isDark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  const scheme = isDark ? "dark" : "light";
  const accent = accentColor && colours.test(accentColor) ? accentColor : accentDefault[scheme];
  const shape = buttonStyle === "pill" || buttonStyle === "rectangular" ? buttonStyle : "rounded";
  return { theme: theme === "auto" ? "auto" : scheme, accentColor: accent, buttonStyle: shape };
}

/** Loads the style sheet if the server did not know the branding. @param style URL without branding */
export function applyBranding(style: string, branding: BrandingView): void {
  const query = brandingQuery(branding);
  const old = document.getElementById("look");
  if (!(old instanceof HTMLLinkElement)) return;
  const address = query ? `${style}?${query}` : style;
  if (old.getAttribute("href") === address) return;
  const sheet = document.createElement("link");
  sheet.rel = "stylesheet";
  sheet.id = "look";
  sheet.href = address;
  sheet.addEventListener("load", () => old.remove());
  old.after(sheet);
}
