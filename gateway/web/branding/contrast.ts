// Computes readable colours for any merchant colour, by relative luminance and contrast of WCAG 2.2 (1.4.3, 1.4.11).

/** `#rrggbb`. */
export type Colour = string;

const textContrastMin = 4.5;
const edgeContrastMin = 3;

/** Undefined unless the text is `#rrggbb`. */
export function colourOf(text: string | undefined): Colour | undefined {
  return text && /^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : undefined;
}

/** From 1 (equal) to 21 (black on white). */
export function contrast(a: Colour, b: Colour): number {
  const [la, lb] = [luminance(a), luminance(b)];
  return (Math.max(la, lb) + 0.05) / (Math.min(la, lb) + 0.05);
}

/** White if readable on the colour, else black, which then always is. */
export function textOn(background: Colour): Colour {
  return contrast("#ffffff", background) >= textContrastMin ? "#ffffff" : "#000000";
}

/** The colour, moved towards black or white until it is readable on every background. */
export function readableOn(colour: Colour, backgrounds: readonly Colour[]): Colour {
  const target = textOn(backgrounds[0] ?? "#ffffff");
  for (let share = 0; share <= 1; share += 0.05) {
    const tried = mix(colour, target, share);
    if (backgrounds.every((background) => contrast(tried, background) >= textContrastMin)) return tried;
  }
  return target;
}

/** True if a shape in the colour needs a border to be visible on the background. */
export function needsEdge(colour: Colour, background: Colour): boolean {
  return contrast(colour, background) < edgeContrastMin;
}

/** @param share of the second colour, 0 to 1 */
export function mix(a: Colour, b: Colour, share: number): Colour {
  const [from, to] = [partsOf(a), partsOf(b)];
  const parts = from.map((channel, i) => Math.round(channel + ((to[i] ?? 0) - channel) * Math.min(1, share)));
  return `#${parts.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = partsOf(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function partsOf(colour: Colour): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
}
