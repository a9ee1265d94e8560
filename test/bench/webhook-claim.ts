// How long a claim and a walk over the lanes take with a million queued deliveries.
import { claimDue, walkLanes } from "../../services/webhook/store/delivery-queue.ts";
import type { Phase, Report, Rig } from "./webhook-rig.ts";

const queuedCount = 1_000_000;
const insertedAtOnce = 100_000;
const lanesCount = 1_000;
const claims = 50;
const lanesClaimed = 50;
const wantedEach = 4;

export const claim: Phase = { limitSeconds: 90, serviceEnv: {}, run: measure };

async function measure(rig: Rig, report: Report): Promise<void> {
  const queued = Math.round(queuedCount * report.share);
  for (let from = 1; from <= queued; from += insertedAtOnce) {
    report.deadline.throwIfAborted();
    await queue(rig, from, Math.min(queued, from + insertedAtOnce - 1));
    report.progress(`${Math.min(queued, from + insertedAtOnce - 1)} queued`);
  }
  await rig.db.rows("analyze delivery_queue");
  const [claimMs, walkMs]: [number[], number[]] = [[], []];
  for (let i = 0; i < claims; i++) {
    report.deadline.throwIfAborted();
    const walkedAt = performance.now();
    const lanes = await walkLanes(rig.db, 5 * lanesCount, undefined);
    walkMs.push(performance.now() - walkedAt);
    // In turn, as the dispatcher does; from the second round on the index is read past what is claimed already.
    const first = (i * lanesClaimed) % lanes.length;
    const laneClaims = lanes.slice(first, first + lanesClaimed).map((lane) => ({ ...lane, wanted: wantedEach }));
    const startedAt = performance.now();
    await claimDue(rig.db, { lanes: laneClaims, owner: "bench", leaseSeconds: 30, totalMax: 1_000 });
    claimMs.push(performance.now() - startedAt);
  }
  report.row(
    `claim of ${lanesClaimed * wantedEach} in ${lanesClaimed} lanes, ${queued} queued in ${lanesCount} lanes: median / worst`,
    medianAndWorst(claimMs),
  );
  report.row(`  walk over the ${lanesCount} lanes: median / worst`, medianAndWorst(walkMs));
}

/** Deliveries of endpoints that do not exist, so that the running service leaves them alone. */
async function queue(rig: Rig, from: number, to: number): Promise<void> {
  await rig.db.transaction(async (tx) => {
    await tx.rows("set local statement_timeout = 0");
    await tx.rows(
      `insert into delivery_queue (merchant_id, endpoint_id, id, event_type, body, due_at, lease_until)
       select 'mer_bench' || n % $1, 'whk_bench' || n % $1, 'whd_' || lpad(n::text, 26, '0'), 'payment.succeeded', '{}',
         now() - interval '1 hour' + n * interval '1 ms', '-infinity' from generate_series($2::int, $3::int) as n`,
      [lanesCount, from, to],
    );
  });
}

function medianAndWorst(list: readonly number[]): string {
  const sorted = [...list].sort((a, b) => a - b);
  return `${(sorted[sorted.length >> 1] ?? 0).toFixed(1)} / ${(sorted.at(-1) ?? 0).toFixed(1)} ms`;
}
