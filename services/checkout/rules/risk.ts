// Risk screening before a session is created (SPEC.md §4: payment_blocked). One table of rules, all judged on the same facts;
// pure. Card checks are the processor's part; these rules stop what needs no card to be suspicious.

export interface RiskFacts {
  readonly isSandbox: boolean;
  /** Lower case; empty: not given. */
  readonly customerEmail: string;
  /** Sessions that the merchant created for this e-mail address within the window, without the one being screened. */
  readonly recentSessionsOfEmail: number;
}

/** Sessions are counted over this many minutes: longer than a buyer's retries, shorter than a day's honest orders. */
export const velocityWindowMinutes = 10;
// A buyer starts over a few times; card testers start hundreds of times.
const liveSessionsMax = 20;
// A merchant's test suite uses one address for everything, yet the rule must be possible to see at work.
const sandboxSessionsMax = 500;
/** More than this need not be counted. */
export const velocityCountMax = sandboxSessionsMax + 1;

interface RiskRule {
  readonly name: string;
  readonly blocks: (facts: RiskFacts) => boolean;
}

const rules: readonly RiskRule[] = [
  {
    // For merchants who test how their shop takes a refusal.
    name: "sandbox_blocked_email",
    blocks: ({ isSandbox, customerEmail }) => isSandbox && customerEmail === "blocked@example.com",
  },
  {
    name: "email_velocity",
    blocks: ({ isSandbox, customerEmail, recentSessionsOfEmail }) =>
      customerEmail !== "" && recentSessionsOfEmail >= (isSandbox ? sandboxSessionsMax : liveSessionsMax),
  },
];

/** The name of the first rule that blocks; undefined: none does. */
export function screen(facts: RiskFacts): string | undefined {
  return rules.find((rule) => rule.blocks(facts))?.name;
}
