// Which browser a session is in, as its person knows it: `Firefox, Windows`. Browsers name others too, so the order
// decides; one that names none of these is shown as it names itself.

const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg(?:e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/SamsungBrowser\//, "Samsung Internet"],
  [/(?:Firefox|FxiOS)\//, "Firefox"],
  [/(?:Chrome|CriOS)\//, "Chrome"],
  [/Safari\//, "Safari"],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

/** @param agent the `User-Agent` of its sign-in */
export function browserName(agent: string): string {
  const named = (names: typeof browsers) => names.find(([pattern]) => pattern.test(agent))?.[1];
  const browser = named(browsers);
  const system = named(systems);
  if (browser === undefined) return agent;
  return system === undefined ? browser : `${browser}, ${system}`;
}
