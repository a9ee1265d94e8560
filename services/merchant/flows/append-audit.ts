// Appends to the audit log and to its chains, in ONE transaction: the heads of the chains are taken first, so that
// whoever appends to a chain waits his turn, and a repeat finds its entry there.
import type { Database, Tx } from "#platform/database/database.ts";
import { type ChainedEntry, type ChainPosition, entryBytes, placeAfter } from "../rules/audit-chain.ts";
import { type AuditEntry, chainedEntry, insertEntries } from "../store/audit-entries.ts";
import { lockHeads, moveHeads } from "../store/audit-heads.ts";
import { appendLinks, chainedOf, type NewLink } from "../store/audit-links.ts";

/** Writes the entries that are not there yet, each with the next link of its merchant's chain. */
export async function appendAudit(db: Database, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await db.transaction(async (tx) => {
    const heads = await lockHeads(
      tx,
      entries.map(({ merchantId }) => merchantId),
    );
    const written = await insertEntries(tx, entries);
    // Of an entry that comes twice the first one was written.
    const fresh = entries.filter(({ id }) => written.delete(id));
    await chainEntries(tx, heads, fresh.map(chainedEntry), false);
  });
}

/**
 * Chains entries that were written without a link, by the release before or before there were chains. @returns how many
 * there were
 */
export async function chainLateEntries(db: Database, entries: readonly ChainedEntry[]): Promise<number> {
  if (entries.length === 0) return 0;
  return await db.transaction(async (tx) => {
    const heads = await lockHeads(
      tx,
      entries.map(({ merchantId }) => merchantId),
    );
    const chained = await chainedOf(
      tx,
      entries.map(({ id }) => id),
    );
    const left = entries.filter(({ id }) => !chained.has(id));
    await chainEntries(tx, heads, left, true);
    return left.length;
  });
}

async function chainEntries(
  tx: Tx,
  heads: Map<string, ChainPosition>,
  entries: readonly ChainedEntry[],
  isLate: boolean,
) {
  const links: NewLink[] = [];
  for (const entry of entries) {
    const { id: entryId, merchantId } = entry;
    const head = heads.get(merchantId);
    if (!head) throw new Error("a chain whose head nobody took");
    const place = placeAfter(head, entryBytes(entry), isLate);
    heads.set(merchantId, place);
    links.push({ ...place, merchantId, entryId, isLate });
  }
  if (links.length === 0) return;
  await appendLinks(tx, links);
  await moveHeads(tx, heads);
}
