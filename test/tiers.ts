// Which test files `npm test` runs, the quick tier, and which only `npm run test:all`, the full one. A new file belongs
// to its folder's tier; move it by a line here. test/README.md says what each tier is for.

export const tierNames = ["quick", "full"] as const;
export type Tier = (typeof tierNames)[number];

/** By the beginning of a path; the longest that fits decides. */
export const tiers: Readonly<Record<string, Tier>> = {
  "services/": "quick",
  "gateway/": "quick",
  "deploy/": "quick",
  "test/": "full",
  "test/tidy.test.ts": "quick",
  "test/documents.test.ts": "quick",
  "test/mutants/": "quick",
  "test/states/": "quick",
  "test/harness/": "quick",
  "test/contract/": "quick",
};

export function tierOf(file: string): Tier {
  const [longest] = Object.keys(tiers)
    .filter((beginning) => file.startsWith(beginning))
    .toSorted((one, other) => other.length - one.length);
  const tier = longest === undefined ? undefined : tiers[longest];
  if (tier === undefined) throw new Error(`${file} is in no tier: test/tiers.ts`);
  return tier;
}
