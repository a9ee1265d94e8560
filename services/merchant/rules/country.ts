// Countries: ISO 3166-1 alpha-2, from the CLDR data that comes with Node.

// Codes that CLDR names but ISO 3166-1 does not assign: parts of countries, unions, and codes for tests.
const notCountries = new Set("AC CP CQ DG EA EU EZ IC QO TA UN XA XB XK ZZ".split(" "));
const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** True for an assigned ISO 3166-1 alpha-2 code, upper case. */
export function isCountry(code: string): boolean {
  if (!/^[A-Z]{2}$/.test(code) || notCountries.has(code)) return false;
  // A code that was withdrawn (SU, YU …) has a successor, which is what Locale answers.
  return new Intl.Locale(`und-${code}`).region === code && names.of(code) !== undefined;
}
