// What a browser is called, by the header User-Agent: words of ours alone, since what a browser says of itself can be
// anything, also in a mail that anybody has sent to a stranger by asking for a link.

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

/** `Firefox, Windows`, or what of it is known; empty: nothing. @param agent the header User-Agent */
export function browserName(agent: string): string {
  const named = (kinds: readonly (readonly [string, RegExp])[]) => kinds.find(([, form]) => form.test(agent))?.[0];
  return [named(browsers), named(systems)].filter((name) => name !== undefined).join(", ");
}
