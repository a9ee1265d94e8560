// Follows every chain of the audit log once a day from its beginning, a stretch at a time, shared by all replicas, and
// writes the heads of those that hold to the log. A chain that does not hold is reported and left as it is.
import type { Database } from "#platform/database/database.ts";
import type { JobContext } from "#platform/jobs/job.ts";
import { Counter, Gauge } from "#platform/parts/metric.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { type Break, breaches, type ChainPosition, followChain, missingTail, origin } from "../rules/audit-chain.ts";
import { type ChainPlace, type CheckPlace, claimCheck, endCheck, lastHeld, saveCheck } from "../store/audit-check.ts";
import { chainsAfter, readHead } from "../store/audit-heads.ts";
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

const heldAt = new Gauge({
  name: "tollbooth_audit_held_timestamp_seconds",
  help: "When a pass over the audit log last found that every chain holds, seconds since 1970; at first: since when there are chains.",
});
const heldSeconds = new Gauge({
  name: "tollbooth_audit_held_duration_seconds",
  help: "How long that pass took.",
});

export interface CheckDeps {
  readonly db: Database;
  readonly log: Log;
}

export function checkAuditChainJob(deps: CheckDeps): JobContext {
  return { name: "check-audit-chain", everyMs: stretchEveryMs, runOnce: () => checkNextStretch(deps) };
}

/**
 * The next stretch of the shared pass, if one is due. @returns false: the pause before the next one is part of the
 * design
 */
export async function checkNextStretch(deps: CheckDeps): Promise<boolean> {
  const check = await claimCheck(deps.db, leaseSeconds);
  if (check) await followStretch(deps, check);
  const held = await lastHeld(deps.db);
  heldAt.set(held.at.getTime() / 1_000);
  heldSeconds.set(held.seconds);
  return false;
}

async function followStretch({ db, log }: CheckDeps, check: CheckPlace): Promise<void> {
  let { broken, chain = await nextChain(db, undefined) } = check;
  let left = entriesMax;
  for (let chains = 0; chain && chains < chainsMax && left > 0; chains++) {
    const { merchantId, place } = chain;
    // Before the links: a link that is appended meanwhile is no missing tail.
    const head = await readHead(db, merchantId);
    const heads = head ? [head] : [];
    const links = await linksAfter(db, merchantId, place.seq, left);
    const followed = followChain(merchantId, place, links, heads);
    const isEnd = links.length < left;
    left -= links.length;
    const found = followed.broken ?? (isEnd ? missingTail(followed.place, heads) : undefined);
    if (!found && !isEnd) return await saveCheck(db, { merchantId, place: followed.place }, broken);
    if (found) {
      broken += 1;
      reportBreak(log, merchantId, found);
    } else {
      logHead(log, merchantId, followed.place);
    }
    chain = await nextChain(db, merchantId);
  }
  if (chain) await saveCheck(db, chain, broken);
  else await endCheck(db, broken);
}

async function nextChain(db: Database, after: string | undefined): Promise<ChainPlace | undefined> {
  const [merchantId] = await chainsAfter(db, after, 1);
  return merchantId === undefined ? undefined : { merchantId, place: origin };
}

/** The owner of the database can rewrite a whole chain, but not a log line that is stored elsewhere. */
function logHead(log: Log, merchantId: string, { seq, hash }: ChainPosition): void {
  if (seq === 0n) return;
  const head = { sequence: String(seq), hash: Buffer.from(hash).toString("hex") };
  log.info({ merchant_id: merchantId, ...head }, "audit head sealed");
}

function reportBreak(log: Log, merchantId: string, { what, seq, entryId }: Break): void {
  breaks.inc({ what });
  const fields = { alert: "audit_break", merchant_id: merchantId, what, sequence: String(seq), entry_id: entryId };
  log.error(fields, "audit chain broken");
}
