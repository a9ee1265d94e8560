// Verifies every chain of the audit log once a day, in stretches that all replicas share. It logs the heads of intact
// chains, and reports broken chains without changing them.
import type { Database } from "#platform/database/database.ts";
import type { JobContext } from "#platform/process/job.ts";
import type { Log } from "#platform/telemetry/log.ts";
import type { MerchantMetrics } from "../metrics.ts";
import { type Break, type ChainPosition, followChain, missingTail, origin } from "../rules/audit-chain.ts";
import {
  type ChainProgress,
  type CheckProgress,
  claimCheck,
  endCheck,
  lastHeld,
  saveCheck,
} from "../store/audit-check.ts";
import { chainsAfter, readHead } from "../store/audit-heads.ts";
import { linksAfter } from "../store/audit-links.ts";

// A stretch reads and hashes for some 10 ms. With the pause this is about 1,000 entries per second, which leaves the
// process to its callers.
const entriesMax = 1_000;
const chainsMax = 50;
const stretchEveryMs = 1_000;
// A stretch that takes longer was on a crashed process.
const leaseSeconds = 60;

interface CheckDeps {
  readonly db: Database;
  readonly log: Log;
  readonly metrics: MerchantMetrics;
}

export function checkAuditChainJob(deps: CheckDeps): JobContext {
  return { name: "check-audit-chain", everyMs: stretchEveryMs, runOnce: () => checkNextStretch(deps) };
}

/** Checks the next stretch, if one is due. @returns false, since the pause between stretches is intended */
export async function checkNextStretch(deps: CheckDeps): Promise<boolean> {
  const check = await claimCheck(deps.db, leaseSeconds);
  if (check) await followStretch(deps, check);
  const held = await lastHeld(deps.db);
  deps.metrics.auditHeldAt.set(held.at.getTime() / 1_000);
  deps.metrics.auditHeldSeconds.set(held.seconds);
  return false;
}

async function followStretch({ db, log, metrics }: CheckDeps, check: CheckProgress): Promise<void> {
  let { broken, chain = await nextChain(db, undefined) } = check;
  let left = entriesMax;
  for (let chains = 0; chain && chains < chainsMax && left > 0; chains++) {
    const { merchantId, position } = chain;
    // Read before the links: otherwise a link appended in between would look like a missing tail.
    const head = await readHead(db, merchantId);
    const heads = head ? [head] : [];
    const links = await linksAfter(db, merchantId, position.seq, left);
    const checked = followChain(merchantId, position, links, heads);
    const isEnd = links.length < left;
    left -= links.length;
    const found = checked.broken ?? (isEnd ? missingTail(checked.position, heads) : undefined);
    if (!found && !isEnd) return await saveCheck(db, { merchantId, position: checked.position }, broken);
    if (found) {
      broken += 1;
      reportBreak({ log, metrics }, merchantId, found);
    } else {
      logHead(log, merchantId, checked.position);
    }
    chain = await nextChain(db, merchantId);
  }
  if (chain) await saveCheck(db, chain, broken);
  else await endCheck(db, broken);
}

async function nextChain(db: Database, after: string | undefined): Promise<ChainProgress | undefined> {
  const [merchantId] = await chainsAfter(db, after, 1);
  return merchantId === undefined ? undefined : { merchantId, position: origin };
}

/** The database's owner could rewrite a whole chain, but not a log line that is stored elsewhere. */
function logHead(log: Log, merchantId: string, { seq, hash }: ChainPosition): void {
  if (seq === 0n) return;
  const head = { sequence: String(seq), hash: Buffer.from(hash).toString("hex") };
  log.info({ merchant_id: merchantId, ...head }, "audit head sealed");
}

function reportBreak({ log, metrics }: Omit<CheckDeps, "db">, merchantId: string, { what, seq, entryId }: Break): void {
  metrics.auditBreaks.inc({ what });
  const fields = { alert: "audit_break", merchant_id: merchantId, what, sequence: String(seq), entry_id: entryId };
  log.error(fields, "audit chain broken");
}
