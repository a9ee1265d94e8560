// Which test files `npm test` runs, the quick tier, and which only `npm run test:all`, the full one. A new file belongs
// to its folder's tier; move it by a line here. test/README.md says what each tier is for.

export const tierNames = ["quick", "full"] as const;
export type Tier = (typeof tierNames)[number];

/** By the beginning of a path; the longest that fits decides. */
export const tiers: Readonly<Record<string, Tier>> = {
  "services/": "quick",
  "gateway/": "quick",
  "deploy/": "quick",
  "test/tidy.test.ts": "quick",
  "test/documents.test.ts": "quick",
  "test/bench/": "full",
  "test/browser/": "full",
  "test/chaos/": "quick",
  "test/connectors/": "quick",
  "test/console/": "full",
  "test/console/story.test.ts": "quick",
  "test/contract/": "quick",
  "test/contract/outage.test.ts": "full",
  "test/deploy/": "full",
  "test/flows/": "quick",
  "test/flows/deploy/listen.test.ts": "full",
  "test/flows/deploy/settings-at-start.test.ts": "full",
  "test/flows/merchant/audit-verify.test.ts": "full",
  "test/flows/merchant/invitation-rights.test.ts": "full",
  "test/flows/payments/doubt.test.ts": "full",
  "test/flows/simulator/form.test.ts": "full",
  "test/flows/webhook/recovery.test.ts": "full",
  "test/harness/": "quick",
  "test/manifests/": "full",
  "test/manifests/manifests.test.ts": "quick",
  "test/mutants/": "quick",
  "test/proofs/": "full",
  "test/proofs/journey.test.ts": "quick",
  "test/proofs/walk.test.ts": "quick",
  "test/releases/": "full",
  "test/states/": "quick",
};

/** Undefined: no line is about the file, which test/tidy.test.ts refuses. */
export function tierOf(file: string): Tier | undefined {
  const [longest = ""] = Object.keys(tiers)
    .filter((beginning) => file.startsWith(beginning))
    .toSorted((one, other) => other.length - one.length);
  return tiers[longest];
}
