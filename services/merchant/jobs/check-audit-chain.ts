// Proves the audit log once a day, a stretch at a time, shared by all replicas: chains entries that are in no chain, follows every chain
// from its beginning, and seals the heads of those that hold. What does not hold is told and left as it is.

import type { JobContext } from "#platform/jobs/job.ts";
import { Counter, Gauge } from "#platform/parts/metric.ts";
import { chainLateEntries } from "../flows/append-audit.ts";
import { type SealDeps, sealHead } from "../flows/seal-audit-head.ts";
import { type Break, breaches, followChain, missingTail, origin } from "../rules/audit-chain.ts";
import { type ChainPlace, type CheckPlace, claimCheck, endCheck, lastHeld, saveCheck } from "../store/audit-check.ts";
import { unchainedEntries } from "../store/audit-entries.ts";
import { chainsAfter, knownHeads } from "../store/audit-heads.ts";
import { linksAfter } from "../store/audit-links.ts";

// A stretch is some tens of milliseconds of reading and hashing; with the pause a pass goes at about 1,000 entries a
// second, which leaves the process to its callers.
const entriesMax = 1_000;
const chainsMax = 50;
const stretchEveryMs = 1_000;
// A stretch that takes longer than this has lost its process.
const leaseSeconds = 60;

const breaks = new Counter({
  name: "tollbooth_audit_breaks_total",
  help: "Chains of the audit log that were found not to hold, by what is wrong at their first such place.",
  labelNames: ["what"] as const,
});
for (const what of breaches) breaks.inc({ what }, 0);

const lateEntries = new Counter({
  name: "tollbooth_audit_late_entries_total",
  help: "Audit entries that were written without a link of their chain, and chained by a pass. Only releases without chains write such.",
});
lateEntries.inc(0);

const heldAt = new Gauge({
  name: "tollbooth_audit_held_timestamp_seconds",
  help: "When a pass over the audit log last found that every chain holds, seconds since 1970; at first: since when there are chains.",
});
const heldSeconds = new Gauge({
  name: "tollbooth_audit_held_duration_seconds",
  help: "How long that pass took.",
});

export function checkAuditChainJob(deps: SealDeps): JobContext {
  return { name: "check-audit-chain", everyMs: stretchEveryMs, runOnce: () => checkNextStretch(deps) };
}

/**
 * The next stretch of the shared pass, if one is due. @returns false: the pause before the next one is part of the
 * design
 */
export async function checkNextStretch(deps: SealDeps): Promise<boolean> {
  const place = await claimCheck(deps.db, leaseSeconds);
  if (place?.chain) await followStretch(deps, place, place.chain);
  else if (place) await chainStretch(deps, place);
  const held = await lastHeld(deps.db);
  heldAt.set(held.at.getTime() / 1_000);
  heldSeconds.set(held.seconds);
  return false;
}

/** Entries that a release without chains has written, during an update or before there were any. */
async function chainStretch({ db, log }: SealDeps, place: CheckPlace): Promise<void> {
  const { entries, lookedTo } = await unchainedEntries(db, place.entryId, entriesMax);
  const late = await chainLateEntries(db, entries);
  lateEntries.inc(late);
  if (late > 0) log.warn({ entries: late, last_entry: entries.at(-1)?.id }, "audit entries chained late");
  if (lookedTo !== undefined) return await saveCheck(db, { ...place, entryId: lookedTo });
  const [first] = await chainsAfter(db, undefined, 1);
  if (first === undefined) await endCheck(db, place.broken);
  else await saveCheck(db, { ...place, chain: { merchantId: first, place: origin } });
}

async function followStretch(deps: SealDeps, place: CheckPlace, chain: ChainPlace): Promise<void> {
  let { broken } = place;
  let left = entriesMax;
  let { merchantId, place: from } = chain;
  for (let chains = 0; chains < chainsMax && left > 0; chains++) {
    // Before the links: what is appended meanwhile is no tail that is missing.
    const heads = await knownHeads(deps.db, merchantId);
    const links = await linksAfter(deps.db, merchantId, from.seq, left);
    const followed = followChain(merchantId, from, links, heads);
    const isEnd = links.length < left;
    left -= links.length;
    const found = followed.broken ?? (isEnd ? missingTail(followed.place, heads) : undefined);
    if (!found && !isEnd)
      return await saveCheck(deps.db, { ...place, broken, chain: { merchantId, place: followed.place } });
    if (found) {
      broken += 1;
      tellBreak(deps, merchantId, found);
    } else {
      await sealHead(deps, merchantId, followed.place);
    }
    const [next] = await chainsAfter(deps.db, merchantId, 1);
    if (next === undefined) return await endCheck(deps.db, broken);
    [merchantId, from] = [next, origin];
  }
  await saveCheck(deps.db, { ...place, broken, chain: { merchantId, place: from } });
}

function tellBreak({ log }: SealDeps, merchantId: string, { what, seq, entryId }: Break): void {
  breaks.inc({ what });
  const fields = { alert: "audit_break", merchant_id: merchantId, what, sequence: String(seq), entry_id: entryId };
  log.error(fields, "the audit log does not hold");
}
