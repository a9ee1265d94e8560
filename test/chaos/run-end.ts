// The end of a run, walk or chaos: everything that is on its way arrives, clocks are right again, then every merchant's
// books are compared with the processors', clients' and receivers', and the rules that hold for the whole run are
// counted.
import type { StripeFault } from "../harness/stripe/stripe-faults.ts";
import { bankDifferences } from "./bank-checks.ts";
import { hledgerDifferences } from "./hledger-checks.ts";
import { finalDifferences } from "./money-checks.ts";
import { countFired, type switchFaultsOn } from "./processor-faults.ts";
import type { Run } from "./story.ts";
import type { StripePost } from "./stripe-post.ts";
import { calmStripe } from "./stripe-switches.ts";
import { unattendedItems } from "./unfinished-work.ts";
import { viewOf, type WideRig } from "./wide-rig.ts";

export interface RunEnd {
  readonly differences: readonly string[];
  /** Answers 5xx or refusals for what the processor had done. */
  readonly dishonest: number;
  /** Open items without a next check. */
  readonly forgotten: number;
}

export interface Ending {
  readonly run: Run;
  readonly post: StripePost;
  readonly set: Awaited<ReturnType<typeof switchFaultsOn>>;
  /** Of the stand-in's faults, when the run began. */
  readonly firedBefore: ReadonlyMap<StripeFault, number>;
  /** How long the services get to bring everything in doubt to its end, milliseconds. */
  readonly limitMs: number;
  /** How long the simulator honours idempotency keys in this run. */
  readonly keySeconds: number;
}

const settleMsMin = 15_000;
/** How often what is in doubt is asked about: longer than an answer takes. */
const clockEveryMs = 5_000;

export async function endRun({ run, post, set, firedBefore, limitMs, keySeconds }: Ending): Promise<RunEnd> {
  const { rig, drawn, honesty } = run;
  rig.clocks.mend();
  await countFired(rig, set, drawn);
  calmStripe(rig.fake, firedBefore, drawn);
  for (const { stripe } of rig.shops) if (stripe) stripe.account.lagMs = 0;
  drawn.count("keys forgotten", await forgottenKeys(rig, keySeconds));
  const found = new Set(await post.flush(limitMs));
  const end = performance.now() + limitMs;
  const clock = setInterval(() => putClockForward(rig).catch(() => {}), clockEveryMs);
  try {
    for (const shop of rig.shops) {
      // While the first one's books are waited for, the others' come to agree as well.
      const leftMs = Math.max(settleMsMin, end - performance.now());
      const differences = await finalDifferences(viewOf(rig, shop), shop.seen, { limitMs: leftMs });
      for (const one of differences) found.add(one.startsWith("pay_") ? one : `${shop.name}: ${one}`);
    }
  } finally {
    clearInterval(clock);
  }
  for (const one of [...(await bankDifferences(rig)), ...(await hledgerDifferences(rig))]) found.add(one);
  const stripe = rig.shops.flatMap((shop) => (shop.stripe ? [shop.stripe.account] : []));
  const dishonest = await honesty.broken(rig, stripe);
  const forgotten = await unattendedItems(rig, run);
  return {
    differences: [...found, ...dishonest, ...forgotten],
    dishonest: dishonest.length,
    forgotten: forgotten.length,
  };
}

/** Operations whose key the simulator does not honour any more, by its own clock, which a run may put forward. */
async function forgottenKeys({ books }: WideRig, keySeconds: number): Promise<number> {
  const [row] = await books.simulator.rows<{ n: number }>(
    `select count(*)::int as n from operations
     where idempotency_key <> ''
       and created_at < (select max(created_at) from operations) - make_interval(secs => $1)`,
    [keySeconds],
  );
  return row?.n ?? 0;
}

export function operationsOf({ rig }: Run): number {
  return rig.shops.reduce((sum, { seen }) => sum + seen.operations, 0);
}

export function paymentsOf({ rig }: Run): number {
  return rig.shops.reduce((sum, { seen }) => sum + seen.payments.size, 0);
}

/** Counts of the drawn rows, and of the two rules of the whole run. */
export function printRun(
  { drawn, honesty }: Run,
  by: "walk" | "chaos",
  end: RunEnd,
  log: (line: string) => void,
): void {
  log("faults drawn:");
  for (const line of drawn.lines(by)) log(line);
  log(`5xx or refused although the processor did it: ${end.dishonest} (of ${honesty.count} such answers)`);
  log(`open items without a next check: ${end.forgotten}`);
}

/**
 * Makes all scheduled checks due now, and repeatedly: their pauses grow to hours (docs/operate.md, "When something
 * fails").
 */
async function putClockForward({ books }: WideRig): Promise<void> {
  await books.payments.rows(
    `update operations set next_try_at = now(), tries = greatest(tries - 1, 1) where state = 'started'`,
  );
  await books.payments.rows(`update payments set next_check_at = now() where next_check_at is not null and visible`);
}
