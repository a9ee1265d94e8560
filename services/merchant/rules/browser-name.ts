// Names a browser by its User-Agent header from a fixed list. The header's own text could be anything, and mails to
// strangers quote the name.

const browsers = [
  ["Edge", /\bEdg[A-Za-z]*\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(Firefox|FxiOS)\//],
  ["Chrome", /\b(Chrome|CriOS|HeadlessChrome)\//],
  ["Safari", /\bSafari\//],
] as const;

const systems = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMacintosh\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
] as const;

/** For example `Firefox, Windows`; empty when nothing is recognised. @param agent the User-Agent header */
export function browserName(agent: string): string {
  const named = (kinds: readonly (readonly [string, RegExp])[]) => kinds.find(([, form]) => form.test(agent))?.[0];
  return [named(browsers), named(systems)].filter((name) => name !== undefined).join(", ");
}
